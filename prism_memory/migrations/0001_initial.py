import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.lookups
import pgvector.django.extensions
import pgvector.django.halfvec
import prism_memory.db.constraints
import prism_memory.db.expressions
import prism_memory.db.fields
import prism_memory.types.checks
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        pgvector.django.extensions.VectorExtension(
        ),
        migrations.CreateModel(
            name='Tenant',
            fields=[
                ('name', prism_memory.db.fields.TenantField(db_collation='C', primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='prism_memory_tenant_named'), models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(prism_memory.db.expressions.OctetLength('name'), 256), name='prism_memory_tenant_name_bytes')],
            },
        ),
        migrations.CreateModel(
            name='Scope',
            fields=[
                ('id', models.UUIDField(default=prism_memory.types.checks.uuid7, editable=False, primary_key=True, serialize=False)),
                ('tenant', prism_memory.db.fields.TenantField(db_collation='C', editable=False)),
                ('owner', prism_memory.db.fields.NameField(blank=True, db_collation='C', default='')),
                ('agent', prism_memory.db.fields.NameField(blank=True, db_collation='C', default='')),
                ('thread', prism_memory.db.fields.NameField(blank=True, db_collation='C', default='')),
                ('current_generation', models.IntegerField(blank=True, null=True)),
                ('vectors', models.BigIntegerField(default=0, help_text='About how many vectors it holds; the planner reads it.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'constraints': [prism_memory.db.constraints.TenantKey(name='prism_memory_scope_key'), models.UniqueConstraint(fields=('tenant', 'owner', 'agent', 'thread'), name='prism_memory_scope_unique'), models.CheckConstraint(condition=models.Q(('tenant', ''), _negated=True), name='prism_memory_scope_tenant_named'), models.CheckConstraint(condition=models.Q(models.Q(('owner', ''), _negated=True), models.Q(('agent', ''), ('thread', '')), _connector='OR'), name='prism_memory_scope_owner_first'), models.CheckConstraint(condition=models.Q(('current_generation__isnull', True), ('current_generation__gte', 0), _connector='OR'), name='prism_memory_scope_generation_not_negative'), models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(prism_memory.db.expressions.OctetLength('tenant'), 256), name='prism_memory_scope_tenant_bytes'), models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(prism_memory.db.expressions.OctetLength('owner'), 256), name='prism_memory_scope_owner_bytes'), models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(prism_memory.db.expressions.OctetLength('agent'), 256), name='prism_memory_scope_agent_bytes'), models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(prism_memory.db.expressions.OctetLength('thread'), 256), name='prism_memory_scope_thread_bytes')],
            },
        ),
        migrations.CreateModel(
            name='Source',
            fields=[
                ('id', models.UUIDField(default=prism_memory.types.checks.uuid7, editable=False, primary_key=True, serialize=False)),
                ('tenant', prism_memory.db.fields.TenantField(db_collation='C', editable=False)),
                ('key', prism_memory.db.fields.NameField(db_collation='C')),
                ('uri', models.TextField(blank=True, default='')),
                ('trust', models.TextField(choices=[('user', 'User'), ('document', 'Document'), ('agent', 'Agent'), ('tool', 'Tool'), ('subagent', 'Subagent'), ('consolidator', 'Consolidator'), ('system', 'System')])),
                ('writer', prism_memory.db.fields.NameField(db_collation='C')),
                ('sha256', models.BinaryField(blank=True, null=True)),
                ('state', models.TextField(choices=[('active', 'Active'), ('retired', 'Retired')], default='active')),
                ('ingestion', models.TextField(choices=[('pending', 'Pending'), ('indexed', 'Indexed'), ('partial', 'Partial'), ('failed', 'Failed')], default='pending')),
                ('bytes', models.BigIntegerField(default=0)),
                ('chunks', models.IntegerField(default=0)),
                ('error', models.TextField(blank=True, default='')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('scope', prism_memory.db.fields.TenantForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='prism_memory.scope')),
            ],
            options={
                'constraints': [prism_memory.db.constraints.TenantKey(name='prism_memory_source_key'), prism_memory.db.constraints.TenantReference(field='scope', name='prism_memory_source_scope'), models.UniqueConstraint(fields=('tenant', 'scope', 'key'), name='prism_memory_source_unique'), models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(prism_memory.db.expressions.OctetLength('key'), 256), name='prism_memory_source_key_bytes'), models.CheckConstraint(condition=models.Q(('trust__in', ['user', 'document', 'agent', 'tool', 'subagent', 'consolidator', 'system'])), name='prism_memory_source_trust'), models.CheckConstraint(condition=models.Q(('state__in', ['active', 'retired'])), name='prism_memory_source_state'), models.CheckConstraint(condition=models.Q(('ingestion__in', ['pending', 'indexed', 'partial', 'failed'])), name='prism_memory_source_ingestion')],
            },
        ),
        migrations.CreateModel(
            name='Record',
            fields=[
                ('id', models.UUIDField(default=prism_memory.types.checks.uuid7, editable=False, primary_key=True, serialize=False)),
                ('tenant', prism_memory.db.fields.TenantField(db_collation='C', editable=False)),
                ('kind', models.TextField(choices=[('entry', 'Entry'), ('chunk', 'Chunk'), ('turn', 'Turn'), ('note', 'Note'), ('fact', 'Fact')], default='entry')),
                ('tier', models.TextField(blank=True, choices=[('', 'none'), ('semantic', 'Semantic'), ('episodic', 'Episodic'), ('procedural', 'Procedural')], default='')),
                ('namespace', prism_memory.db.fields.NameField(blank=True, db_collation='C', default='')),
                ('partition', prism_memory.db.fields.NameField(blank=True, db_collation='C', default='')),
                ('key', prism_memory.db.fields.NameField(db_collation='C')),
                ('text', models.TextField()),
                ('lexical_text', models.TextField(blank=True, null=True)),
                ('embed_text', models.TextField(blank=True, null=True)),
                ('language', models.TextField()),
                ('sha256', models.BinaryField()),
                ('search', models.GeneratedField(db_persist=True, expression=prism_memory.db.expressions.RecordSearchVector(), output_field=django.contrib.postgres.search.SearchVectorField())),
                ('sequence', prism_memory.db.fields.IdentityField(editable=False)),
                ('importance', models.FloatField(blank=True, null=True)),
                ('uses', models.BigIntegerField(default=1)),
                ('metadata', models.JSONField(blank=True, default=dict)),
                ('trust', models.TextField(choices=[('user', 'User'), ('document', 'Document'), ('agent', 'Agent'), ('tool', 'Tool'), ('subagent', 'Subagent'), ('consolidator', 'Consolidator'), ('system', 'System')])),
                ('writer', prism_memory.db.fields.NameField(db_collation='C')),
                ('consent_source', models.TextField(blank=True, choices=[('user', 'User'), ('agent', 'Agent'), ('system', 'System')], default='')),
                ('consent_scope', models.TextField(blank=True, choices=[('thread', 'Thread'), ('profile', 'Profile'), ('user', 'User')], default='')),
                ('visible', models.BooleanField(blank=True, help_text='Null: no consent was given.', null=True)),
                ('granted_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('gate', models.TextField(choices=[('open', 'Open'), ('quarantined', 'Quarantined')], default='open')),
                ('gate_reason', models.TextField(blank=True, default='')),
                ('gate_markers', models.JSONField(blank=True, default=list)),
                ('generation', models.IntegerField(blank=True, null=True)),
                ('ordinal', models.IntegerField(blank=True, null=True)),
                ('line_start', models.IntegerField(blank=True, null=True)),
                ('line_end', models.IntegerField(blank=True, null=True)),
                ('offset_start', models.IntegerField(blank=True, null=True)),
                ('offset_end', models.IntegerField(blank=True, null=True)),
                ('happened_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField()),
                ('retired_at', models.DateTimeField(blank=True, null=True)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('valid_from', models.DateTimeField(blank=True, null=True)),
                ('valid_to', models.DateTimeField(blank=True, null=True)),
                ('version', models.IntegerField(default=1)),
                ('mac', models.BinaryField(blank=True, null=True)),
                ('mac_key', models.TextField(blank=True, null=True)),
                ('scope', prism_memory.db.fields.TenantForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='prism_memory.scope')),
                ('source', prism_memory.db.fields.TenantForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='prism_memory.source')),
            ],
            options={
                'permissions': [('reveal_record', 'Can see withheld text')],
                'indexes': [django.contrib.postgres.indexes.GinIndex(fastupdate=False, fields=['search'], name='prism_memory_record_search'), models.Index(fields=['tenant', 'scope', 'sequence', 'id'], name='prism_memory_record_order'), models.Index(condition=models.Q(('source__isnull', False)), fields=['tenant', 'source', 'ordinal', 'id'], name='prism_memory_record_stream')],
                'constraints': [prism_memory.db.constraints.TenantKey(name='prism_memory_record_key'), prism_memory.db.constraints.TenantReference(field='scope', name='prism_memory_record_scope'), prism_memory.db.constraints.TenantReference(field='source', name='prism_memory_record_source'), models.UniqueConstraint(fields=('tenant', 'scope', 'key', 'kind', 'namespace', 'partition'), name='prism_memory_record_unique'), models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(prism_memory.db.expressions.OctetLength('key'), 256), name='prism_memory_record_key_bytes'), models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(prism_memory.db.expressions.OctetLength('namespace'), 256), name='prism_memory_record_namespace_bytes'), models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(prism_memory.db.expressions.OctetLength('partition'), 256), name='prism_memory_record_partition_bytes'), models.CheckConstraint(condition=models.Q(('kind__in', ['entry', 'chunk', 'turn', 'note', 'fact'])), name='prism_memory_record_kind'), models.CheckConstraint(condition=models.Q(('tier__in', ['', 'semantic', 'episodic', 'procedural'])), name='prism_memory_record_tier'), models.CheckConstraint(condition=models.Q(('trust__in', ['user', 'document', 'agent', 'tool', 'subagent', 'consolidator', 'system'])), name='prism_memory_record_trust'), models.CheckConstraint(condition=models.Q(('gate__in', ['open', 'quarantined'])), name='prism_memory_record_gate'), models.CheckConstraint(condition=models.Q(('language__in', ('arabic', 'armenian', 'basque', 'catalan', 'danish', 'dutch', 'english', 'finnish', 'french', 'german', 'greek', 'hindi', 'hungarian', 'indonesian', 'irish', 'italian', 'lithuanian', 'nepali', 'norwegian', 'portuguese', 'romanian', 'russian', 'serbian', 'simple', 'spanish', 'swedish', 'tamil', 'turkish', 'yiddish'))), name='prism_memory_record_language'), models.CheckConstraint(condition=models.Q(('importance__isnull', True), models.Q(('importance__gte', 0), ('importance__lte', 1)), _connector='OR'), name='prism_memory_record_importance'), models.CheckConstraint(condition=models.Q(('uses__gte', 1)), name='prism_memory_record_uses'), models.CheckConstraint(condition=models.Q(('valid_to__isnull', True), ('valid_from__isnull', True), ('valid_to__gt', models.F('valid_from')), _connector='OR'), name='prism_memory_record_validity'), models.CheckConstraint(condition=models.Q(models.Q(('kind', 'chunk'), _negated=True), ('source__isnull', False), _connector='OR'), name='prism_memory_record_chunk_has_source')],
            },
        ),
        migrations.CreateModel(
            name='LineageEdge',
            fields=[
                ('pk', models.CompositePrimaryKey('tenant', 'record_id', 'source_ref', blank=True, editable=False, primary_key=True, serialize=False)),
                ('tenant', prism_memory.db.fields.TenantField(db_collation='C')),
                ('source_ref', prism_memory.db.fields.NameField(db_collation='C')),
                ('position', models.SmallIntegerField()),
                ('record', prism_memory.db.fields.TenantForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='prism_memory.record')),
            ],
            options={
                'indexes': [models.Index(fields=['tenant', 'source_ref'], name='prism_memory_lineage_source')],
                'constraints': [prism_memory.db.constraints.TenantReference(field='record', name='prism_memory_lineage_record'), models.CheckConstraint(condition=models.Q(('position__gte', 0), ('position__lte', 31)), name='prism_memory_lineage_position')],
            },
        ),
        migrations.CreateModel(
            name='Tombstone',
            fields=[
                ('id', models.UUIDField(default=prism_memory.types.checks.uuid7, editable=False, primary_key=True, serialize=False)),
                ('tenant', prism_memory.db.fields.TenantField(db_collation='C', editable=False)),
                ('target_ref', prism_memory.db.fields.NameField(db_collation='C')),
                ('root_ref', prism_memory.db.fields.NameField(db_collation='C')),
                ('reason', models.TextField(choices=[('corrected', 'Corrected'), ('revoked', 'Revoked'), ('forgotten', 'Forgotten'), ('legal_hold', 'Legal Hold'), ('expired', 'Expired')])),
                ('hold', models.BooleanField(default=False)),
                ('supersedes_ref', prism_memory.db.fields.NameField(blank=True, db_collation='C', default='')),
                ('actor', prism_memory.db.fields.NameField(db_collation='C')),
                ('at', models.DateTimeField()),
                ('cleared_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('cleared_at__isnull', True)), fields=['tenant', 'root_ref'], name='prism_memory_tombstone_root')],
                'constraints': [prism_memory.db.constraints.TenantKey(name='prism_memory_tombstone_key'), models.UniqueConstraint(condition=models.Q(('cleared_at__isnull', True)), fields=('tenant', 'target_ref', 'root_ref', 'reason'), name='prism_memory_tombstone_unique'), models.CheckConstraint(condition=models.Q(('tenant', ''), _negated=True), name='prism_memory_tombstone_tenant_named'), models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(prism_memory.db.expressions.OctetLength('tenant'), 256), name='prism_memory_tombstone_tenant_bytes'), models.CheckConstraint(condition=models.Q(('reason__in', ['corrected', 'revoked', 'forgotten', 'legal_hold', 'expired'])), name='prism_memory_tombstone_reason'), models.CheckConstraint(condition=models.Q(models.Q(('reason', 'legal_hold'), _negated=True), ('hold', True), _connector='OR'), name='prism_memory_tombstone_hold')],
            },
        ),
        migrations.CreateModel(
            name='EmbeddingSpace',
            fields=[
                ('id', models.AutoField(primary_key=True, serialize=False)),
                ('alias', models.TextField()),
                ('provider', models.TextField()),
                ('model', models.TextField()),
                ('dimensions', models.IntegerField()),
                ('metric', models.TextField(default='cosine')),
                ('index_mode', models.TextField(choices=[('none', 'None'), ('hnsw', 'Hnsw')], default='none')),
                ('state', models.TextField(choices=[('building', 'Building'), ('active', 'Active'), ('retired', 'Retired')], default='building')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'active')), fields=('alias',), name='prism_memory_space_one_active'), models.CheckConstraint(condition=models.Q(('dimensions__gte', 1), ('dimensions__lte', 4000)), name='prism_memory_space_dimensions'), models.CheckConstraint(condition=models.Q(('metric', 'cosine')), name='prism_memory_space_metric'), models.CheckConstraint(condition=models.Q(('state__in', ['building', 'active', 'retired'])), name='prism_memory_space_state'), models.CheckConstraint(condition=models.Q(('index_mode__in', ['none', 'hnsw'])), name='prism_memory_space_index_mode')],
            },
        ),
        migrations.CreateModel(
            name='Embedding',
            fields=[
                ('pk', models.CompositePrimaryKey('tenant', 'space_id', 'record_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('tenant', prism_memory.db.fields.TenantField(db_collation='C')),
                ('sha256', models.BinaryField(help_text='Of the text that is to be embedded.')),
                ('vector', pgvector.django.halfvec.HalfVectorField(blank=True, null=True)),
                ('attempts', models.IntegerField(default=0)),
                ('claimed_until', models.DateTimeField(blank=True, null=True)),
                ('next_try_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('counted', models.BooleanField(db_default=False, help_text="The count of its scope's vectors includes it.")),
                ('failed_at', models.DateTimeField(blank=True, null=True)),
                ('error', models.TextField(blank=True, default='')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('space', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='prism_memory.embeddingspace')),
                ('record', prism_memory.db.fields.TenantForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='prism_memory.record')),
                ('scope', prism_memory.db.fields.TenantForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='prism_memory.scope')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('vector__isnull', False)), fields=['tenant', 'space', 'scope'], name='prism_memory_embedding_scan'), models.Index(condition=models.Q(('vector__isnull', True)), fields=['tenant', 'space', 'failed_at', 'next_try_at'], name='prism_memory_embedding_queue')],
                'constraints': [prism_memory.db.constraints.TenantReference(field='record', name='prism_memory_embedding_record'), prism_memory.db.constraints.TenantReference(field='scope', name='prism_memory_embedding_scope'), models.CheckConstraint(condition=prism_memory.db.expressions.UnitVector('vector'), name='prism_memory_embedding_unit')],
            },
        ),
        migrations.CreateModel(
            name='AccessKey',
            fields=[
                ('id', models.UUIDField(default=prism_memory.types.checks.uuid7, editable=False, primary_key=True, serialize=False)),
                ('label', models.TextField()),
                ('sha256', models.BinaryField()),
                ('tenant', prism_memory.db.fields.TenantField(db_collation='C')),
                ('owner', prism_memory.db.fields.NameField(blank=True, db_collation='C', default='')),
                ('agent', prism_memory.db.fields.NameField(blank=True, db_collation='C', default='')),
                ('thread', prism_memory.db.fields.NameField(blank=True, db_collation='C', default='')),
                ('trust', models.TextField(choices=[('user', 'User'), ('document', 'Document'), ('agent', 'Agent'), ('tool', 'Tool'), ('subagent', 'Subagent'), ('consolidator', 'Consolidator'), ('system', 'System')], default='agent', help_text='Trust class of what this key writes; no request can change it.')),
                ('permissions', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(choices=[('read', 'Read'), ('write', 'Write'), ('govern', 'Govern'), ('operate', 'Operate')]), size=None)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('last_used_at', models.DateTimeField(blank=True, editable=False, null=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('tenant', ''), _negated=True), name='prism_memory_access_key_tenant_named'), models.CheckConstraint(condition=models.Q(models.Q(('owner', ''), _negated=True), models.Q(('agent', ''), ('thread', '')), _connector='OR'), name='prism_memory_access_key_owner_first'), models.CheckConstraint(condition=models.Q(('permissions__contained_by', ['read', 'write', 'govern', 'operate']), models.Q(('permissions', []), _negated=True)), name='prism_memory_access_key_permissions'), models.CheckConstraint(condition=models.Q(('trust__in', ['user', 'document', 'agent', 'tool', 'subagent', 'consolidator', 'system'])), name='prism_memory_access_key_trust'), models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(prism_memory.db.expressions.OctetLength('tenant'), 256), name='prism_memory_access_key_tenant_bytes'), models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(prism_memory.db.expressions.OctetLength('owner'), 256), name='prism_memory_access_key_owner_bytes'), models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(prism_memory.db.expressions.OctetLength('agent'), 256), name='prism_memory_access_key_agent_bytes'), models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(prism_memory.db.expressions.OctetLength('thread'), 256), name='prism_memory_access_key_thread_bytes')],
            },
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.UUIDField(default=prism_memory.types.checks.uuid7, editable=False, primary_key=True, serialize=False)),
                ('tenant', prism_memory.db.fields.TenantField(db_collation='C', editable=False)),
                ('kind', models.TextField()),
                ('target', prism_memory.db.fields.NameField(blank=True, db_collation='C', default='')),
                ('state', models.TextField(choices=[('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='running')),
                ('cursor', models.JSONField(blank=True, default=dict)),
                ('counts', models.JSONField(blank=True, default=dict)),
                ('actor', prism_memory.db.fields.NameField(db_collation='C')),
                ('error', models.TextField(blank=True, default='')),
                ('started_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('heartbeat_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['tenant', '-started_at'], name='prism_memory_run_recent')],
                'constraints': [prism_memory.db.constraints.TenantKey(name='prism_memory_run_key'), models.UniqueConstraint(condition=models.Q(('state', 'running')), fields=('tenant', 'kind', 'target'), name='prism_memory_run_one_running'), models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(prism_memory.db.expressions.OctetLength('tenant'), 256), name='prism_memory_run_tenant_bytes'), models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(prism_memory.db.expressions.OctetLength('target'), 256), name='prism_memory_run_target_bytes'), models.CheckConstraint(condition=models.Q(('state__in', ['running', 'done', 'failed', 'cancelled'])), name='prism_memory_run_state')],
            },
        ),
        migrations.CreateModel(
            name='AuditEvent',
            fields=[
                ('id', models.UUIDField(default=prism_memory.types.checks.uuid7, editable=False, primary_key=True, serialize=False)),
                ('tenant', prism_memory.db.fields.TenantField(db_collation='C', editable=False)),
                ('actor', prism_memory.db.fields.NameField(db_collation='C')),
                ('action', models.TextField()),
                ('target', prism_memory.db.fields.NameField(db_collation='C')),
                ('reason', models.TextField(blank=True, default='')),
                ('detail', models.JSONField(blank=True, default=dict, help_text='Ids and counts.')),
                ('at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['tenant', 'at', 'id'], name='prism_memory_audit_time'), models.Index(fields=['tenant', 'target'], name='prism_memory_audit_target')],
                'constraints': [prism_memory.db.constraints.TenantKey(name='prism_memory_audit_key'), models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(prism_memory.db.expressions.OctetLength('tenant'), 256), name='prism_memory_audit_tenant_bytes')],
            },
        ),
    ]
