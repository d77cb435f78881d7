# The schema as models.py has it; the keys between tenant rows follow in 0002.

import accounts.ids
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
import django.db.models.manager
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='Agent',
            fields=[
                ('id', models.UUIDField(default=accounts.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100)),
                ('is_active', models.BooleanField(default=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
            ],
        ),
        migrations.CreateModel(
            name='Organization',
            fields=[
                ('id', models.UUIDField(default=accounts.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('slug', models.SlugField(max_length=63, unique=True)),
                ('name', models.CharField(max_length=200)),
                ('settings', models.JSONField(blank=True, default=dict)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
            ],
        ),
        migrations.CreateModel(
            name='User',
            fields=[
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('id', models.UUIDField(default=accounts.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('email', models.EmailField(max_length=254, unique=True)),
                ('name', models.CharField(blank=True, max_length=200)),
                ('is_active', models.BooleanField(default=True)),
                ('is_staff', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
        ),
        migrations.CreateModel(
            name='Brain',
            fields=[
                ('id', models.UUIDField(default=accounts.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('scope', models.CharField(choices=[('personal', 'Personal'), ('corporate', 'Corporate'), ('agent', 'Agent')], max_length=16)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='brains', to=settings.AUTH_USER_MODEL)),
                ('organization', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='brains', to='accounts.organization')),
            ],
        ),
        migrations.CreateModel(
            name='Operation',
            fields=[
                ('id', models.UUIDField(default=accounts.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('scope', models.CharField(choices=[('personal', 'Personal'), ('corporate', 'Corporate'), ('agent', 'Agent')], editable=False, max_length=16)),
                ('door', models.CharField(max_length=16)),
                ('user_id', models.UUIDField(null=True)),
                ('agent_id', models.UUIDField(null=True)),
                ('key_id', models.UUIDField(null=True)),
                ('source', models.CharField(blank=True, max_length=100)),
                ('verb', models.CharField(max_length=50)),
                ('target_kind', models.CharField(max_length=50)),
                ('target_id', models.UUIDField()),
                ('reason', models.CharField(blank=True, max_length=500)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('brain', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.brain')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='OperationPayload',
            fields=[
                ('id', models.UUIDField(default=accounts.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('scope', models.CharField(choices=[('personal', 'Personal'), ('corporate', 'Corporate'), ('agent', 'Agent')], editable=False, max_length=16)),
                ('data', models.JSONField(default=dict)),
                ('brain', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.brain')),
                ('operation', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.operation')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.UUIDField(default=accounts.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('role', models.CharField(choices=[('owner', 'Owner'), ('curator', 'Curator'), ('member', 'Member'), ('viewer', 'Viewer')], default='member', max_length=16)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('organization', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='accounts.organization')),
            ],
        ),
        migrations.CreateModel(
            name='BrainKey',
            fields=[
                ('id', models.UUIDField(default=accounts.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('person', 'Person'), ('agent', 'Agent'), ('context', 'Context'), ('intent', 'Intent')], max_length=16)),
                ('label', models.CharField(max_length=100)),
                ('permissions', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('promote', 'Promote'), ('feed', 'Feed'), ('allow_in_url', 'Allow In Url')], max_length=32), blank=True, default=list, size=None)),
                ('public_id', models.CharField(editable=False, max_length=16, unique=True)),
                ('secret_hash', models.BinaryField(max_length=32)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('last_used_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('agent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='keys', to='accounts.agent')),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='keys', to=settings.AUTH_USER_MODEL)),
                ('organization', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='keys', to='accounts.organization')),
            ],
        ),
        migrations.AddField(
            model_name='agent',
            name='organization',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='agents', to='accounts.organization'),
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.UniqueConstraint(django.db.models.functions.text.Lower('email'), name='accounts_user_email_any_case'),
        ),
        migrations.AddIndex(
            model_name='operation',
            index=models.Index(fields=['brain', '-created_at', '-id'], name='accounts_operation_newest'),
        ),
        migrations.AddIndex(
            model_name='operation',
            index=models.Index(fields=['brain', 'target_id'], name='accounts_operation_target'),
        ),
        migrations.AddConstraint(
            model_name='operationpayload',
            constraint=models.UniqueConstraint(fields=('brain', 'operation'), name='accounts_operationpayload_once'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.UniqueConstraint(fields=('organization', 'user'), name='accounts_membership_once'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.CheckConstraint(condition=models.Q(('role__in', ['owner', 'curator', 'member', 'viewer'])), name='accounts_membership_role'),
        ),
        migrations.AddConstraint(
            model_name='brainkey',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('agent__isnull', True), ('kind', 'person'), ('user__isnull', False)), models.Q(('agent__isnull', False), ('kind', 'agent'), ('user__isnull', True)), models.Q(('kind__in', ['context', 'intent']), ('user__isnull', True)), _connector='OR'), name='accounts_brainkey_principal'),
        ),
        migrations.AddConstraint(
            model_name='brain',
            constraint=models.UniqueConstraint(fields=('id', 'scope'), name='accounts_brain_scope_key'),
        ),
        migrations.AddConstraint(
            model_name='brain',
            constraint=models.UniqueConstraint(condition=models.Q(('scope', 'personal')), fields=('organization', 'owner'), name='accounts_brain_one_personal'),
        ),
        migrations.AddConstraint(
            model_name='brain',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('owner__isnull', False), ('scope', 'personal')), models.Q(('owner__isnull', True), ('scope__in', ['corporate', 'agent'])), _connector='OR'), name='accounts_brain_owner_if_personal'),
        ),
        migrations.AddConstraint(
            model_name='agent',
            constraint=models.UniqueConstraint(models.F('organization'), django.db.models.functions.text.Lower('name'), name='accounts_agent_name_any_case'),
        ),
    ]
