from django.db import migrations

from accounts.tenant import tenant_keys


class Migration(migrations.Migration):
    dependencies = [("graph", "0001_initial")]

    operations = [
        tenant_keys("graph_node", {"parent_id": "graph_node"}),
        tenant_keys("graph_nodememory", {"node_id": "graph_node"}),
    ]
