Braze: schedules of messages and triggers can be created, changed and withdrawn. `/sends/data_series` returns the results of a send.
