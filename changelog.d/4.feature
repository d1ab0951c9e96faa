Certificates (.pem, .p12) can be provisioned for APNs in addition to .p8 keys. `doctor`, `/readyz` and a metric report when they expire and what they do not serve.
