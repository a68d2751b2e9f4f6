from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('prism_memory', '0021_readings'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='record',
            index=models.Index(condition=models.Q(('generation__isnull', False)), fields=['tenant', 'scope', 'generation'], name='prism_memory_record_generation'),
        ),
    ]
