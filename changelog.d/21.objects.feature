`PUT`, `GET` and `DELETE` of `/v1/credentials/{credential}` and `/v1/apps/{app}` manage credentials, and apps with their bindings, by the rules of the provisioning file.
