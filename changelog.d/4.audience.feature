Messages can be sent to tag expressions (`seoul && !quiet`), to groups of users and to users on all their devices. Devices register with tags; groups are managed under `/v1/apps/{app}/groups/{group}` with exact counts (`docs/audiences.md`).
In `POST /v1/messages`, `to.users` now selects all devices of each user and cannot be combined; phones, keys and devices can still be combined.
