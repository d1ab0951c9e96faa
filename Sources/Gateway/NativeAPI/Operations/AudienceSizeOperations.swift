import AnswerShapes
import EngineStore
import GatewayHTTP
import Hummingbird
import Model
import Store

/// `/v1/apps/{app}/audience-size`: how many targets a message would have.
enum AudienceSizeOperations {
    static let all = [count]

    struct Input: InputFields {
        let app = CommonInputs.app
        let vendor = CommonInputs.vendor
        let audience = BodyField.required("to", .audience, "The audience, as in a message.")
    }

    static let size = AnswerShape<AudienceSize>(
        "AudienceSize",
        [
            .int("count", "The number of targets.") { $0.count },
            .word(
                "precision",
                "`exact`; `about`: from counters of identities or of a group's users; `atLeast`: the count was stopped."
            ) { $0.precision },
        ]
    )

    static let count = NativeOperation(
        "countAudience",
        .post,
        "/v1/apps/{app}/audience-size",
        scope: .read,
        "Count the targets that a message to an audience would have now: exactly up to \(AudienceSize.exactLimit), above it approximately, and for tags at least the stated number.",
        input: Input(),
        example: ["to": ["tags": "seoul && !quiet"]],
        answers: [.json(size.schema, "The size.")],
        problems: [.notFound],
        NativeAPI.countAudience
    )
}

extension NativeAPI {
    func countAudience(_ call: NativeCall<AudienceSizeOperations.Input>) async throws(Problem) -> Response {
        let scope = AppScope(app: try call.app, vendor: try call.vendor)
        let audience = try call.audience
        try await known(scope.app, call.caller)
        let size = try await asked { () async throws(StoreError) in
            try await stores.audiences.size(of: audience, in: scope, of: call.tenant)
        }
        return .json(AudienceSizeOperations.size.json(size))
    }
}
