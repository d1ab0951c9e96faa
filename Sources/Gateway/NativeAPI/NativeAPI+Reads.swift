import CallAudit
import GatewayHTTP
import Hummingbird
import Model
import Store

/// Reads of content and of facts about people.
extension NativeAPI {
    /// Executes a read and writes its rows of the audit, before the answer leaves. A read whose rows cannot be written is refused. Objects that do not exist
    /// are audited too: the caller has learned that.
    ///
    /// - Parameters:
    ///   - rule: whether a call that returns nothing is audited.
    ///   - operation: the operation's id.
    ///   - call: the call.
    ///   - read: executes the operation.
    /// - Returns: the answer of `read`.
    /// - Throws: `Problem`.
    func audited(
        _ rule: AuditedCall,
        _ operation: String,
        _ call: NativeCall<some InputFields>,
        _ read: () async throws(Problem) -> Response
    ) async throws(Problem) -> Response {
        let response: Response
        do throws(Problem) {
            response = try await read()
        } catch {
            if error.code == .notFound, rule == .read { try await note(operation, call, count: 0) }
            throw error
        }
        let count = call.caller.found.count
        if rule == .read || count != 0 { try await note(operation, call, count: count) }
        return response
    }

    private func note(
        _ operation: String,
        _ call: NativeCall<some InputFields>,
        count: Int?
    ) async throws(Problem) {
        let records = ReadSubjects(call.values, tenant: call.tenant)
            .records(of: operation, count: count, found: call.caller.found.subjects)
        try await asked { () async throws(StoreError) in
            try await reads.note(records, by: call.actor, in: call.tenant)
        }
    }
}
