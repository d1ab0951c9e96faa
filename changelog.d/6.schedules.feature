Braze's schedules of messages and triggers can be made, changed and withdrawn; `/sends/data_series` counts what became of a send.
