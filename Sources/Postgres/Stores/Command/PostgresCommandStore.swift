package import Commands
package import Model

/// `Commands`' store: one call is one transaction of one tenant in one round trip, under row-level security.
package struct PostgresCommandStore: CommandStore {
    private let call: PostgresPool
    let node: NodeID

    /// - Parameters:
    ///   - call: the pool of `gateway_call`.
    ///   - node: whose row of the counters this process adds to.
    package init(call: PostgresPool, node: NodeID) {
        self.call = call
        self.node = node
    }

    package func run(
        _ statements: [StoreStatement],
        in tenant: TenantID
    ) async throws(StoreError) -> [StoreAnswer] {
        guard !statements.isEmpty else { return [] }
        let questions = statements.map { question($0, tenant) }
        return try await asStore { () throws(PostgresError) in
            let results = try await call.run(questions.map(\.statement), tenant: tenant.rawValue)
            var answers: [StoreAnswer] = []
            for (index, question) in questions.enumerated() {
                answers.append(try question.read(try results.result(index)))
            }
            return answers
        }
    }

    package func run(
        _ statements: [StoreStatement],
        in tenant: TenantID,
        keeping keep: Keep<[StoreAnswer]>
    ) async throws(StoreError) -> Kept<[StoreAnswer]> {
        let questions = statements.map { question($0, tenant) }
        let act = KeptAct<[StoreAnswer]>(questions.map(\.statement), keep) { (results) throws(PostgresError) in
            var answers: [StoreAnswer] = []
            for (index, question) in questions.enumerated() {
                answers.append(try question.read(try results.result(index)))
            }
            return answers
        }
        return try await asStore { () throws(PostgresError) in try await act.run(on: call, in: tenant) }
    }

    private func question(_ statement: StoreStatement, _ tenant: TenantID) -> StoreQuestion {
        switch statement {
        case .register(let scope, let key, let registration, let identity, let device, let at):
            register(tenant, scope, key, registration, identity, device, at)
        case .updateToken(let scope, let key, let token, let environment, let at):
            updateToken(tenant, scope, key, token, environment, at)
        case .unregister(let scope, let selector, _): unregister(tenant, scope, selector)
        case .identity(let scope, let key): identity(tenant, scope, key)
        case .registerSender(let scope, let name, let id): registerSender(tenant, scope, name, id)
        case .sender(let scope, let id): sender(tenant, scope, id)
        case .enrolSender(let scope, let id, let key, let name, let address):
            enrol(tenant, scope, id, key: key, name: name, address: address)
        case .setCallback(let scope, let id, let url): setCallback(tenant, scope, id, url)
        case .putVerification(let scope, let phone, let codeHash, let limits, let at):
            putVerification(tenant, scope, phone, codeHash, limits, at)
        case .checkVerification(let scope, let phone, let codeHash, let limits, let at):
            checkVerification(tenant, scope, phone, codeHash, limits, at)
        case .putGroup(let scope, let name): putGroup(tenant, scope, name)
        case .deleteGroup(let scope, let name): deleteGroup(tenant, scope, name)
        case .groups(let scope, let names): groups(tenant, scope, names)
        case .changeMembers(let scope, let name, let change): changeMembers(tenant, scope, name, change)
        case .receipt(let scope, let message, let reporter, let kind, let at):
            receipt(tenant, scope, message, reporter, kind, at)
        case .delivery(let scope, let message, let reporter): delivery(tenant, scope, message, reporter)
        case .touch(let scope, let key, let at): touch(tenant, scope, key, at)
        case .undelivered(let scope, let key, let since, let limit): undelivered(tenant, scope, key, since, limit)
        case .app(let scope): app(tenant, scope)
        case .resolve(let scope, let addresses): resolve(tenant, scope, addresses)
        case .resolveUsers(let scope, let users, let limit): resolveUsers(tenant, scope, users, limit)
        case .accept(let message): accept(tenant, message)
        case .control(let scope, let message, let action, _): control(tenant, scope, message, action)
        case .putMedia(let hash, let contentType, let bytes, let at):
            putMedia(tenant, hash, contentType, bytes, at)
        case .media(let scope, let message, let id): media(tenant, scope, message, id)
        }
    }
}
