/// The version of this program, as `--version`, `/openapi.json` and captures state it.
package enum GatewayVersion {
    package static let text = "0.1.0"
}
