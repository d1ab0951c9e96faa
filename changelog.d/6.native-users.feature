The native API shows and changes the stored data of users of all vendors: `GET` and `PATCH /v1/apps/{app}/users/{user}`.
