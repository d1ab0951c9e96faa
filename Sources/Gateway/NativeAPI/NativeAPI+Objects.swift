import EngineStore
import GatewayHTTP
import Logging
import Model
import Observability
import Store

/// Writes of objects that a provisioning file could contain too: apps and credentials.
extension NativeAPI {
    /// Runs a write, and answers its refusals and errors. `what` is the object, in problems.
    ///
    /// - Throws: `Problem`.
    func written(
        _ what: String,
        _ write: () async throws -> ObjectWrite
    ) async throws(Problem) -> ObjectWrite {
        let outcome: ObjectWrite
        do {
            outcome = try await write()
        } catch let problem as ProvisioningProblem {
            throw Problem.invalid(problem.path.isEmpty ? "body" : problem.path, problem.problem)
        } catch {
            logger.warning("an object cannot be stored", metadata: [LogKey.error: "\(error)"])
            throw Problem.unavailable(5)
        }
        guard case .refused(let refusal) = outcome else { return outcome }
        throw Self.problem(refusal, what)
    }

    private static func problem(_ refusal: ObjectRefusal, _ what: String) -> Problem {
        switch refusal {
        case .missing: .notFound("\(what) does not exist")
        case .fromFile: .provisioned(what)
        case .full(let limit): .invalid("id", "at most \(limit) of the API per tenant; delete one first")
        case .used(let user): .invalid("id", "\(what) is used by \(user)")
        case .unknownCredential(let id): .invalid("platforms", "unknown credential '\(id)'")
        case .bindingTaken(let key):
            .invalid("bindings.\(key.vendor)", "the \(key.kind) '\(key.value)' leads to another app")
        case .listedTwice(let object): .invalid("bindings", "\(object) is listed twice")
        case .senderTaken(let name):
            .invalid("bindings", "the sender '\(name)' is known by another id, or its id by another name")
        case .masterKeyReplaced: .unavailable(5)
        }
    }
}
