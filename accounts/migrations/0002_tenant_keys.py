from django.db import migrations

from accounts.tenant import tenant_keys


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]

    operations = [
        tenant_keys("accounts_operation", {}),
        tenant_keys("accounts_operationpayload", {"operation_id": "accounts_operation"}),
    ]
