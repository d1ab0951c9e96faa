Braze's templates know the attributes that are kept of a user.
