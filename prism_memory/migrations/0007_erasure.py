import django.contrib.postgres.fields
from django.db import migrations, models

REORDER = """
ALTER TABLE prism_memory_embedding
 DROP CONSTRAINT prism_memory_embedding_pkey,
  ADD CONSTRAINT prism_memory_embedding_pkey PRIMARY KEY (tenant, {columns})
"""


class Migration(migrations.Migration):

    dependencies = [
        ('prism_memory', '0006_export'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='embedding',
            name='prism_memory_embedding_scope',
        ),
        migrations.SeparateDatabaseAndState(
            # Django alters no composite key. The record before the space: deleting a
            # record looks for its vectors, and would else read all of the tenant's.
            state_operations=[
                migrations.AlterField(
                    model_name='embedding',
                    name='pk',
                    field=models.CompositePrimaryKey('tenant', 'record_id', 'space_id', blank=True, editable=False, primary_key=True, serialize=False),
                ),
            ],
            database_operations=[
                migrations.RunSQL(
                    REORDER.format(columns='record_id, space_id'),
                    REORDER.format(columns='space_id, record_id'),
                ),
            ],
        ),
        migrations.AddField(
            model_name='erasurereceipt',
            name='kinds',
            field=models.JSONField(default=dict, help_text='Records removed, by kind.'),
        ),
        migrations.AddField(
            model_name='erasurereceipt',
            name='scope_ids',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), default=list, help_text='Of its scope and of those above it; who may see them may see this.', size=None),
        ),
        migrations.RemoveIndex(
            model_name='tombstone',
            name='prism_memory_tombstone_root',
        ),
        migrations.AddIndex(
            model_name='tombstone',
            index=models.Index(condition=models.Q(('cleared_at__isnull', True), models.Q(('root_ref', ''), _negated=True)), fields=['tenant', 'root_ref'], name='prism_memory_tombstone_root'),
        ),
    ]
