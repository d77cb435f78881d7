# The schema as models.py has it; the keys between tenant rows follow in 0002.

import accounts.ids
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
import pgvector.django.halfvec
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0002_tenant_keys'),
        ('graph', '0002_tenant_keys'),
    ]

    operations = [
        migrations.CreateModel(
            name='EmbeddingModel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=200, unique=True)),
                ('dimensions', models.PositiveIntegerField()),
                ('calibration', models.JSONField(default=dict, help_text='Raw cosines that count as similarity 0 and 1.')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
            ],
        ),
        migrations.CreateModel(
            name='CorpusVersion',
            fields=[
                ('id', models.UUIDField(default=accounts.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('scope', models.CharField(choices=[('personal', 'Personal'), ('corporate', 'Corporate'), ('agent', 'Agent')], editable=False, max_length=16)),
                ('revision', models.PositiveBigIntegerField(default=0)),
                ('oldest_removal', models.PositiveBigIntegerField(default=0, help_text='Caches older than this reload everything.')),
                ('brain', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.brain')),
            ],
            options={
                'abstract': False,
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='RecallFile',
            fields=[
                ('id', models.UUIDField(default=accounts.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('scope', models.CharField(choices=[('personal', 'Personal'), ('corporate', 'Corporate'), ('agent', 'Agent')], editable=False, max_length=16)),
                ('recall_id', models.CharField(help_text='A slug for people, unique in its brain.', max_length=120)),
                ('kind', models.CharField(choices=[('conversation', 'Conversation'), ('thought', 'Thought'), ('document', 'Document'), ('learning', 'Learning')], max_length=16)),
                ('title', models.CharField(blank=True, max_length=500)),
                ('platform', models.CharField(blank=True, max_length=50)),
                ('conversation_type', models.CharField(blank=True, max_length=50)),
                ('metadata', models.JSONField(blank=True, default=dict)),
                ('summary', models.TextField(blank=True)),
                ('summary_kind', models.CharField(choices=[('extractive', 'Extractive'), ('llm', 'Llm')], default='extractive', max_length=16)),
                ('category', models.CharField(choices=[('thought', 'Thought'), ('idea', 'Idea'), ('knowledge', 'Knowledge'), ('external', 'External'), ('agent_insight', 'Agent Insight')], default='thought', max_length=16)),
                ('visibility', models.CharField(choices=[('team', 'Team'), ('public', 'Public')], default='team', max_length=16)),
                ('tags', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), blank=True, default=list, size=None)),
                ('source', models.CharField(blank=True, help_text='From the key or the door, never from a request.', max_length=100)),
                ('trust', models.CharField(choices=[('human', 'Human'), ('agent', 'Agent'), ('imported', 'Imported')], default='human', max_length=16)),
                ('contributed_by', models.UUIDField(blank=True, help_text='The person or agent who captured it.', null=True)),
                ('filed_by', models.CharField(choices=[('nobody', 'Nobody'), ('rule', 'Rule'), ('person', 'Person')], default='nobody', max_length=16)),
                ('filing_suggestion', models.JSONField(blank=True, help_text='While it waits: node_id and confidence.', null=True)),
                ('workflow_context', models.JSONField(blank=True, null=True)),
                ('source_key', models.CharField(blank=True, max_length=300, null=True)),
                ('message_count', models.PositiveIntegerField()),
                ('revision', models.PositiveIntegerField(default=1, help_text='Grows with every change; the ETag of edits.')),
                ('state', models.CharField(choices=[('live', 'Live'), ('archived', 'Archived'), ('trashed', 'Trashed')], default='live', max_length=16)),
                ('embedding_state', models.CharField(choices=[('pending', 'Pending'), ('embedded', 'Embedded'), ('failed', 'Failed')], default='pending', max_length=16)),
                ('occurred_at', models.DateTimeField()),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('purge_after', models.DateTimeField(blank=True, null=True)),
                ('brain', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.brain')),
                ('node', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='graph.node')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='RagEntry',
            fields=[
                ('id', models.UUIDField(default=accounts.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('scope', models.CharField(choices=[('personal', 'Personal'), ('corporate', 'Corporate'), ('agent', 'Agent')], editable=False, max_length=16)),
                ('filed_by', models.CharField(choices=[('nobody', 'Nobody'), ('rule', 'Rule'), ('person', 'Person')], default='nobody', max_length=16)),
                ('entry_kind', models.CharField(choices=[('passage', 'Passage'), ('summary', 'Summary')], default='passage', max_length=16)),
                ('first_message', models.PositiveIntegerField()),
                ('last_message', models.PositiveIntegerField()),
                ('role', models.CharField(max_length=16)),
                ('speaker', models.CharField(blank=True, max_length=200)),
                ('summary', models.TextField(blank=True, help_text='The text of a summary; empty for a passage.')),
                ('keywords', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), blank=True, default=list, size=None)),
                ('entities', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), blank=True, default=list, size=None)),
                ('importance_score', models.DecimalField(decimal_places=2, default=0.5, max_digits=3)),
                ('characters', models.PositiveIntegerField(help_text='Length of its text, for budgets of tokens.')),
                ('terms', models.BinaryField(help_text='Packed words of each piece, see memory/entries.py.')),
                ('revision', models.PositiveBigIntegerField(help_text='The corpus version that last changed it.')),
                ('occurred_at', models.DateTimeField()),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('brain', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.brain')),
                ('duplicate_of', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='memory.ragentry')),
                ('node', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='graph.node')),
                ('recall_file', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='memory.recallfile')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Message',
            fields=[
                ('id', models.UUIDField(default=accounts.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('scope', models.CharField(choices=[('personal', 'Personal'), ('corporate', 'Corporate'), ('agent', 'Agent')], editable=False, max_length=16)),
                ('position', models.PositiveIntegerField()),
                ('role', models.CharField(choices=[('user', 'User'), ('assistant', 'Assistant'), ('system', 'System'), ('tool', 'Tool')], max_length=16)),
                ('speaker', models.CharField(blank=True, max_length=200)),
                ('content', models.TextField()),
                ('timestamp', models.DateTimeField(blank=True, null=True)),
                ('details', models.JSONField(blank=True, default=dict, help_text='kind, visible, branch, attachments, native id.')),
                ('brain', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.brain')),
                ('recall_file', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='memory.recallfile')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='RemovedEntry',
            fields=[
                ('id', models.UUIDField(default=accounts.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('scope', models.CharField(choices=[('personal', 'Personal'), ('corporate', 'Corporate'), ('agent', 'Agent')], editable=False, max_length=16)),
                ('entry_id', models.UUIDField()),
                ('revision', models.PositiveBigIntegerField()),
                ('brain', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.brain')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Revision',
            fields=[
                ('id', models.UUIDField(default=accounts.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('scope', models.CharField(choices=[('personal', 'Personal'), ('corporate', 'Corporate'), ('agent', 'Agent')], editable=False, max_length=16)),
                ('revision', models.PositiveIntegerField(help_text="The recall file's revision that had these words.")),
                ('content', models.TextField()),
                ('edited_by', models.UUIDField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('brain', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.brain')),
                ('recall_file', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='memory.recallfile')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='IdempotencyKey',
            fields=[
                ('id', models.UUIDField(default=accounts.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('scope', models.CharField(choices=[('personal', 'Personal'), ('corporate', 'Corporate'), ('agent', 'Agent')], editable=False, max_length=16)),
                ('principal_id', models.UUIDField()),
                ('key', models.CharField(max_length=200)),
                ('body_hash', models.BinaryField(max_length=32)),
                ('result', models.JSONField(help_text='Ids of what was made.')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('brain', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.brain')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('brain', 'principal_id', 'key'), name='memory_idempotencykey_once')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.UUIDField(default=accounts.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('scope', models.CharField(choices=[('personal', 'Personal'), ('corporate', 'Corporate'), ('agent', 'Agent')], editable=False, max_length=16)),
                ('kind', models.CharField(choices=[('embed', 'Embed'), ('file', 'File'), ('import', 'Import'), ('purge', 'Purge')], max_length=16)),
                ('subject_id', models.UUIDField(help_text='What is worked on: a recall file, or the job itself for an import.')),
                ('priority', models.PositiveSmallIntegerField(default=50, help_text='Smaller goes first.')),
                ('state', models.CharField(choices=[('pending', 'Pending'), ('running', 'Running'), ('done', 'Done'), ('dead', 'Dead')], default='pending', max_length=16)),
                ('attempts', models.PositiveSmallIntegerField(default=0, help_text='Counted before the work.')),
                ('fencing', models.PositiveIntegerField(default=0, help_text="A late worker's number no longer matches.")),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('run_after', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('requested_by', models.UUIDField(blank=True, null=True)),
                ('arguments', models.JSONField(blank=True, default=dict)),
                ('progress', models.JSONField(blank=True, default=dict)),
                ('error', models.CharField(blank=True, help_text='Why the last attempt failed, without content.', max_length=500)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('brain', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.brain')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('state', 'pending')), fields=['priority', 'run_after'], name='memory_job_due'), models.Index(condition=models.Q(('state', 'running')), fields=['lease_until'], name='memory_job_leases'), models.Index(fields=['brain', '-created_at', '-id'], name='memory_job_newest')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'pending')), fields=('brain', 'kind', 'subject_id'), name='memory_job_one_pending'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'running'), _negated=True), ('lease_until__isnull', False), _connector='OR'), name='memory_job_leased')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='RagEmbedding',
            fields=[
                ('id', models.UUIDField(default=accounts.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('scope', models.CharField(choices=[('personal', 'Personal'), ('corporate', 'Corporate'), ('agent', 'Agent')], editable=False, max_length=16)),
                ('piece', models.PositiveSmallIntegerField()),
                ('embedding', pgvector.django.halfvec.HalfVectorField()),
                ('brain', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.brain')),
                ('embedding_model', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memory.embeddingmodel')),
                ('node', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='graph.node')),
                ('entry', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='memory.ragentry')),
            ],
            options={
                'indexes': [models.Index(fields=['brain', 'node'], name='memory_ragembedding_node')],
                'constraints': [models.UniqueConstraint(fields=('brain', 'entry', 'embedding_model', 'piece'), name='memory_ragembedding_once')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.AddIndex(
            model_name='recallfile',
            index=models.Index(fields=['brain', 'state', '-created_at', '-id'], name='memory_recallfile_newest'),
        ),
        migrations.AddIndex(
            model_name='recallfile',
            index=models.Index(fields=['brain', 'state', '-occurred_at', '-id'], name='memory_recallfile_timeline'),
        ),
        migrations.AddIndex(
            model_name='recallfile',
            index=models.Index(condition=models.Q(('embedding_state', 'pending')), fields=['brain'], name='memory_recallfile_pending'),
        ),
        migrations.AddConstraint(
            model_name='recallfile',
            constraint=models.UniqueConstraint(fields=('brain', 'recall_id'), name='memory_recallfile_recall_id'),
        ),
        migrations.AddConstraint(
            model_name='recallfile',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'trashed'), _negated=True), fields=('brain', 'source_key'), name='memory_recallfile_source_key'),
        ),
        migrations.AddConstraint(
            model_name='recallfile',
            constraint=models.CheckConstraint(condition=models.Q(('message_count__gt', 0)), name='memory_recallfile_not_empty'),
        ),
        migrations.AddConstraint(
            model_name='recallfile',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('purge_after__isnull', False), ('state', 'trashed')), models.Q(('purge_after__isnull', True), ('state__in', ['live', 'archived'])), _connector='OR'), name='memory_recallfile_purge_if_trashed'),
        ),
        migrations.AddIndex(
            model_name='ragentry',
            index=models.Index(fields=['brain', 'revision'], name='memory_ragentry_changes'),
        ),
        migrations.AddIndex(
            model_name='ragentry',
            index=models.Index(fields=['brain', 'node'], name='memory_ragentry_node'),
        ),
        migrations.AddConstraint(
            model_name='ragentry',
            constraint=models.CheckConstraint(condition=models.Q(('last_message__gte', models.F('first_message'))), name='memory_ragentry_span'),
        ),
        migrations.AddConstraint(
            model_name='ragentry',
            constraint=models.CheckConstraint(condition=models.Q(('importance_score__gte', 0), ('importance_score__lte', 1)), name='memory_ragentry_importance'),
        ),
        migrations.AddConstraint(
            model_name='ragentry',
            constraint=models.UniqueConstraint(fields=('brain', 'recall_file', 'entry_kind', 'first_message'), name='memory_ragentry_once'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.UniqueConstraint(fields=('brain', 'recall_file', 'position'), name='memory_message_position'),
        ),
        migrations.AddIndex(
            model_name='removedentry',
            index=models.Index(fields=['brain', 'revision'], name='memory_removedentry_changes'),
        ),
        migrations.AddConstraint(
            model_name='revision',
            constraint=models.UniqueConstraint(fields=('brain', 'recall_file', 'revision'), name='memory_revision_once'),
        ),
    ]
