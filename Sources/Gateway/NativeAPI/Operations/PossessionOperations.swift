import AnswerShapes
import AppleCalls
import Commands
import EngineStore
import GatewayHTTP
import Hummingbird
import Model
import Secrets
import Store

/// How a device shows that it has its push token.
enum PossessionOperations {
    static let all = [start, answer]

    struct Started: Sendable {
        var device: DeviceID
        var endsAt: Timestamp
    }

    private static let started = AnswerShape<Started>(
        "Challenge",
        [
            .id("device", "The device's id.") { $0.device.description },
            .time("endsAt", "An answer after this is refused.") { $0.endsAt },
        ]
    )

    static func json(_ started: Started) -> JSON { Self.started.json(started) }

    struct StartInput: InputFields {
        let device = DeviceOperations.id
    }

    static let start = NativeOperation(
        "challengeDevice",
        .post,
        "/v1/devices/{device}/challenge",
        scope: .devices,
        "Send a nonce to the device's token in a silent push. The answer raises its claimed identities to `possession`. Replaces an earlier challenge; a device is challenged at most once in 10 s.",
        input: StartInput(),
        answers: [.json(202, started.schema, "The push service accepted the push.")],
        problems: [.notFound, .noCredential, .pushServiceRefused, .pushServiceFailed],
        NativeAPI.challengeDevice
    )

    struct AnswerInput: InputFields {
        let nonce = BodyField.required(
            "nonce",
            .text(64, atLeast: 1).example("6f1d2c9a0b8e47358d6c5b4a39281706"),
            "The member `gatewayNonce` of the push."
        )
    }

    static let answer = NativeOperation(
        "provePossession",
        .post,
        "/v1/possession",
        scope: nil,
        "Answer a challenge with the nonce of the push. For apps. A nonce can be used once.",
        input: AnswerInput(),
        answers: [.empty("The identities of the device are at least `possession`.")],
        problems: [.notFound],
        NativeAPI.provePossession
    )
}

extension NativeAPI {
    func challengeDevice(_ call: NativeCall<PossessionOperations.StartInput>) async throws(Problem) -> Response {
        let device = try call.device
        let nonce = identifiers.randomHex(byteCount: PossessionRules.nonceBytes)
        let now = clock.now()
        let endsAt = now + PossessionRules.lifetime
        let found = try await asked { () async throws(StoreError) in
            try await handler.run(
                PossessionRules.start(device, digest: APIKeys.hash(nonce), at: now),
                in: call.tenant
            )
        }
        guard let found else { throw .notFound("no such device") }
        // Each challenge is a push, which takes nothing from the budgets of sends.
        if let wait = found.waitSeconds { throw .rateLimited(wait) }
        try await possession.send(nonce, to: found, of: call.tenant, at: now, expiresAt: endsAt)
        return .json(PossessionOperations.json(.init(device: device, endsAt: endsAt)), status: .accepted)
    }

    /// The caller is a device without a key. The nonce is what it proves, and names the tenant.
    func provePossession(_ call: NativeCall<PossessionOperations.AnswerInput>) async throws(Problem) -> Response {
        let digest = APIKeys.hash(try call.nonce)
        let isRight = try await asked { () async throws(StoreError) in
            guard let tenant = try await possession.directory.tenant(ofChallenge: digest) else { return false }
            return try await handler.run(PossessionRules.answer(digest: digest), in: tenant)
        }
        guard isRight else {
            callers.failed(call.caller)
            throw .notFound("no such challenge: it was answered or has ended, or the device has another token now")
        }
        return Response(status: .noContent)
    }
}
