The console adds and removes members of a group by a CSV file of up to 1,000 users.
