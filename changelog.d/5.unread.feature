`GET /v1/devices/{id}` returns how many of the device's newest 1,000 messages are unread (`unread`).
