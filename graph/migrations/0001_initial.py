# The schema as models.py has it; the keys between tenant rows follow in 0002.

import accounts.ids
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
import django.db.models.manager
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Node',
            fields=[
                ('id', models.UUIDField(default=accounts.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('scope', models.CharField(choices=[('personal', 'Personal'), ('corporate', 'Corporate'), ('agent', 'Agent')], editable=False, max_length=16)),
                ('name', models.CharField(max_length=255)),
                ('aliases', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=255), blank=True, default=list, size=None)),
                ('type', models.CharField(choices=[('category', 'Category'), ('concept', 'Concept'), ('topic', 'Topic')], max_length=16)),
                ('category', models.CharField(help_text='Name of the category above it (or its own).', max_length=255)),
                ('memory_count', models.PositiveIntegerField(default=0, help_text='Distinct live recall files in its subtree.')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('last_accessed', models.DateTimeField(blank=True, null=True)),
                ('archived_at', models.DateTimeField(blank=True, null=True)),
                ('brain', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.brain')),
                ('parent', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='graph.node')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='NodeMemory',
            fields=[
                ('id', models.UUIDField(default=accounts.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('scope', models.CharField(choices=[('personal', 'Personal'), ('corporate', 'Corporate'), ('agent', 'Agent')], editable=False, max_length=16)),
                ('recall_file_id', models.UUIDField()),
                ('entry_count', models.PositiveIntegerField()),
                ('brain', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.brain')),
                ('node', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='graph.node')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.AddIndex(
            model_name='node',
            index=models.Index(fields=['brain', 'parent'], name='graph_node_children'),
        ),
        migrations.AddConstraint(
            model_name='node',
            constraint=models.UniqueConstraint(models.F('brain'), models.F('parent'), django.db.models.functions.text.Lower('name'), name='graph_node_sibling_names', nulls_distinct=False),
        ),
        migrations.AddConstraint(
            model_name='node',
            constraint=models.CheckConstraint(condition=models.Q(('parent', models.F('id')), _negated=True), name='graph_node_not_its_own_parent'),
        ),
        migrations.AddConstraint(
            model_name='node',
            constraint=models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='graph_node_named'),
        ),
        migrations.AddConstraint(
            model_name='node',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('parent__isnull', True), ('type', 'category')), models.Q(('parent__isnull', False), ('type__in', ['concept', 'topic'])), models.Q(('name', 'Inbox'), ('parent__isnull', True), ('type', 'topic')), _connector='OR'), name='graph_node_type_by_depth'),
        ),
        migrations.AddIndex(
            model_name='nodememory',
            index=models.Index(fields=['brain', 'recall_file_id'], name='graph_nodememory_recall_file'),
        ),
        migrations.AddConstraint(
            model_name='nodememory',
            constraint=models.UniqueConstraint(fields=('brain', 'node', 'recall_file_id'), name='graph_nodememory_once'),
        ),
        migrations.AddConstraint(
            model_name='nodememory',
            constraint=models.CheckConstraint(condition=models.Q(('entry_count__gt', 0)), name='graph_nodememory_not_empty'),
        ),
    ]
