-- Keeps the newest error's text with the job, where lists and filters read it.
UPDATE {schema}.jobs SET error = %(text)s WHERE seq = %(seq)s
