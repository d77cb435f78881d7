from django.db import migrations

from accounts.tenant import tenant_keys


class Migration(migrations.Migration):
    dependencies = [("graph", "0003_relationships_and_indexes")]

    operations = [
        tenant_keys("graph_noderelationship", {"source_node_id": "graph_node", "target_node_id": "graph_node"}),
        tenant_keys("graph_nodeindex", {"node_id": "graph_node"}),
    ]
