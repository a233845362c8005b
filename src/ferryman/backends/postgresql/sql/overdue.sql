-- Whether the reaper has anything to do, and whether the counters are to be added up.
SELECT overdue, uncounted FROM {schema}.overdue(%(now)s)
