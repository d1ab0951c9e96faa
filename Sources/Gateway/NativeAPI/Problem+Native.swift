import GatewayHTTP
import Imports
import Model

/// The problems of operations alone.
extension Problem {
    static func forbidden(_ scope: APIScope) -> Problem { .forbidden(KeyScope(scope)) }
    static func forbidden(_ scope: KeyScope) -> Problem {
        Problem(.forbidden, "the key lacks the scope '\(scope)'")
    }
    static let importTooSlow = Problem(
        .tooSlow,
        "the body ended early, or took more than \(DeviceImports.timeLimit.components.seconds) seconds; "
            + "resume after the last committed line"
    )
}
