# Edges beside the tree, and index files; their keys follow in 0004.

import accounts.ids
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0002_tenant_keys'),
        ('graph', '0002_tenant_keys'),
    ]

    operations = [
        migrations.CreateModel(
            name='NodeIndex',
            fields=[
                ('id', models.UUIDField(default=accounts.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('scope', models.CharField(choices=[('personal', 'Personal'), ('corporate', 'Corporate'), ('agent', 'Agent')], editable=False, max_length=16)),
                ('index_data', models.JSONField()),
                ('revision', models.PositiveBigIntegerField(help_text='The corpus version that it is known to be exact at.')),
                ('last_updated', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('archived_at', models.DateTimeField(blank=True, help_text='No activity for a long time; revived on use.', null=True)),
                ('brain', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.brain')),
                ('node', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='graph.node')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('brain', 'node'), name='graph_nodeindex_once')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='NodeRelationship',
            fields=[
                ('id', models.UUIDField(default=accounts.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('scope', models.CharField(choices=[('personal', 'Personal'), ('corporate', 'Corporate'), ('agent', 'Agent')], editable=False, max_length=16)),
                ('relationship', models.CharField(choices=[('informs', 'Informs'), ('resolves', 'Resolves'), ('precedes', 'Precedes'), ('related_to', 'Related To')], max_length=16)),
                ('weight', models.DecimalField(decimal_places=2, max_digits=3)),
                ('evidence', models.JSONField(blank=True, default=dict, help_text='Why: a text, or an object of ids and numbers.')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('brain', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.brain')),
                ('source_node', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='graph.node')),
                ('target_node', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='graph.node')),
            ],
            options={
                'indexes': [models.Index(fields=['brain', 'target_node'], name='graph_noderelationship_target'), models.Index(fields=['brain', '-created_at', '-id'], name='graph_noderelationship_newest')],
                'constraints': [models.UniqueConstraint(fields=('brain', 'source_node', 'target_node', 'relationship'), name='graph_noderelationship_once'), models.CheckConstraint(condition=models.Q(('source_node', models.F('target_node')), _negated=True), name='graph_noderelationship_no_loop'), models.CheckConstraint(condition=models.Q(('weight__gte', 0), ('weight__lte', 1)), name='graph_noderelationship_weight'), models.CheckConstraint(condition=models.Q(('relationship__in', ['informs', 'resolves', 'precedes', 'related_to'])), name='graph_noderelationship_kind')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]
