Braze: templates can use the stored attributes of a user.
