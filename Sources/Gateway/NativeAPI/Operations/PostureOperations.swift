import AnswerShapes
import GatewayHTTP
import Hummingbird
package import Model

/// Finds the weak points of the node that answers, and of one tenant.
package typealias PostureReading = @Sendable (TenantID) async throws(StoreError) -> [SecurityFinding]

/// `/v1/posture`: the weak points that `doctor --security` reports.
enum PostureOperations {
    static let all = [show]

    /// 1,000: more than anyone reads.
    static let limit = 1000

    private static let finding = AnswerShape<SecurityFinding>(
        "SecurityFinding",
        [
            .word("level", "The attacker's gain.") { $0.level },
            .text("place", "The node, a key, an app or a binding.", example: "acme/shop rationalowl") { $0.place },
            .text("finding", "The setting and its value.", example: "openSends is true") { $0.finding },
            .text("risk", "The possible harm.") { $0.consequence },
            .text("remedy", "The change that closes it.") { $0.remedy },
        ]
    )

    static let posture = AnswerShape<[SecurityFinding]>(
        "Posture",
        [
            .list("findings", finding, "The weak points, the worst first; at most \(limit).") {
                Array($0.prefix(limit))
            },
            .flag("more", "Whether there are more.") { $0.count > limit },
        ]
    )

    static let show = NativeOperation(
        "showPosture",
        .get,
        "/v1/posture",
        scope: .admin,
        "List the weak points of the tenant's keys, apps and bindings, and of the node that answers.",
        input: NoInput(),
        answers: [.json(posture.schema, "The weak points.")],
        NativeAPI.showPosture
    )
}

extension NativeAPI {
    func showPosture(_ call: NativeCall<NoInput>) async throws(Problem) -> Response {
        let tenant = call.tenant
        let findings = try await asked { () async throws(StoreError) in try await stores.posture(tenant) }
        return .json(PostureOperations.posture.json(findings))
    }
}
