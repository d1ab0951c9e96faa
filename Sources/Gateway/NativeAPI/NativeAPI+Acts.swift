import Commands
import GatewayHTTP
import Hummingbird
import Model
import Store

/// Administrative writes. Rules of `Commands` make the requests; the command handler runs each request, once per repeat key.
extension NativeAPI {
    /// Runs a request and answers it. `answer` returns nil when the object does not exist and nothing was done.
    ///
    /// - Throws: `Problem`.
    func act<Result: Sendable>(
        _ request: StoreRequest<Result>,
        in tenant: TenantID,
        once key: IdempotencyKey?,
        missing: String,
        answer: @escaping @Sendable (Result) -> KeptAnswer?
    ) async throws(Problem) -> Response {
        try await act(request, in: tenant, once: key, refused: { _ in .notFound(missing) }, answer: answer)
    }

    /// The same for a request that can be refused for several reasons: `refused` gives the problem where `answer` is nil.
    ///
    /// - Throws: `Problem`.
    func act<Result: Sendable>(
        _ request: StoreRequest<Result>,
        in tenant: TenantID,
        once key: IdempotencyKey?,
        refused: (Result) -> Problem,
        answer: @escaping @Sendable (Result) -> KeptAnswer?
    ) async throws(Problem) -> Response {
        let outcome = try await asked { () async throws(StoreError) in
            try await handler.run(request, in: tenant, keeping: key.map { Keep($0, answer: answer) })
        }
        switch outcome {
        case .done(let result):
            guard let answer = answer(result) else { throw refused(result) }
            return .kept(answer)
        case .repeated(let first): return .kept(first)
        case .mismatch: throw .conflict
        case .tooLarge:
            throw .invalid(
                "Idempotency-Key",
                "the answer has more than \(KeptAnswer.limitBytes) bytes: send without it"
            )
        }
    }
}
