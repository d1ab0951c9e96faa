`GET /v1/devices/{id}` tells how many of the device's newest 1,000 messages are unread (`unread`).
