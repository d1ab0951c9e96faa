`POST /v1/apps/{app}/sas` issues a shared access signature for one installation, optionally for one user, for at most a day.
