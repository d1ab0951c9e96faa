Braze: sends, triggers and their schedules take an `audience` of users' attributes, push state and last use; its regular expressions are matched in linear time.
