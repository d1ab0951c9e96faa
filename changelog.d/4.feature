Certificates (.pem, .p12) can be provisioned for APNs beside .p8 keys; `doctor`, `/readyz` and a metric tell when they end and what they do not serve.
