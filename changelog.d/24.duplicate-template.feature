A template can be duplicated in the console.
