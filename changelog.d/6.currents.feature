`GET /v1/events?format=currents` returns the event log of all vendors in the format of Braze's Currents.
