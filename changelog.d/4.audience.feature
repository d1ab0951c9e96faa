Messages can be sent to tag expressions (`seoul && !quiet`), to groups of users and to users on all their devices; devices register with tags, groups are kept under `/v1/apps/{app}/groups/{group}` with exact counts (`docs/audiences.md`).
In `POST /v1/messages`, `to.users` now rings every device of each user and stands alone; phones, keys and devices may still stand together.
