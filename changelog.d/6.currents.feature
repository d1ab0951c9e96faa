`GET /v1/events?format=currents` gives the event log of all dialects in the shape that readers of Braze's Currents know.
