from django.db import migrations

from accounts.tenant import tenant_keys


class Migration(migrations.Migration):
    dependencies = [("memory", "0001_initial"), ("graph", "0002_tenant_keys")]

    operations = [
        tenant_keys("memory_recallfile", {"node_id": "graph_node"}),
        tenant_keys("memory_message", {"recall_file_id": "memory_recallfile"}),
        tenant_keys("memory_revision", {"recall_file_id": "memory_recallfile"}),
        tenant_keys(
            "memory_ragentry",
            {"node_id": "graph_node", "recall_file_id": "memory_recallfile", "duplicate_of_id": "memory_ragentry"},
        ),
        tenant_keys("memory_ragembedding", {"entry_id": "memory_ragentry", "node_id": "graph_node"}),
        tenant_keys("memory_corpusversion", {}),
        tenant_keys("memory_removedentry", {}),
        tenant_keys("memory_job", {}),
        tenant_keys("memory_idempotencykey", {}),
    ]
