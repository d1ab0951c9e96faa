The native API shows and changes what is known of a user, of any dialect: `GET` and `PATCH /v1/apps/{app}/users/{user}`.
