package import Commands
package import Model

/// `Commands`' store: one call is one transaction of one tenant in one round trip, under row-level security.
package struct PostgresCommandStore: CommandStore {
    let call: PostgresPool
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
        let (questions, transaction) = asked(statements, tenant)
        do throws(PostgresError) {
            if statements.gather { return try answers(questions, try await call.run(gathered: transaction)) }
            return try answers(questions, try await call.run(transaction))
        } catch {
            throw StoreError(error)
        }
    }

    // No parts of the function that waits: what they compute with would lie in every waiting call's memory.

    @inline(never)
    private func asked(_ statements: [StoreStatement], _ tenant: TenantID) -> ([StoreQuestion], Transaction) {
        let questions = statements.map { question($0, tenant) }
        var transaction = Transaction(
            tenant: tenant.rawValue,
            questions.map(\.statement),
            flushes: statements.contains(where: \.writes)
        )
        transaction.folds = questions.compactMap(\.fold)
        return (questions, transaction)
    }

    @inline(never)
    private func answers(_ questions: [StoreQuestion], _ results: [ResultSet]) throws(PostgresError) -> [StoreAnswer] {
        var answers: [StoreAnswer] = []
        answers.reserveCapacity(questions.count)
        for (index, question) in questions.enumerated() {
            answers.append(try question.read(try results.result(index)))
        }
        return answers
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
        case .control(let scope, let message, let action, let actor, _): control(tenant, scope, message, action, actor)
        case .putMedia(let hash, let contentType, let bytes, let at):
            putMedia(tenant, hash, contentType, bytes, at)
        case .media(let scope, let message, let id): media(tenant, scope, message, id)
        case .ownMedia(let scope, let number, let owner): ownMedia(tenant, scope, number, owner)
        case .history(let scope, let caller, let page, let at): history(tenant, scope, caller, page, at)
        case .inboxMessage(let scope, let caller, let number): inboxMessage(tenant, scope, caller, number)
        case .poll(let scope, let caller, let limit, let at): poll(tenant, scope, caller, limit, at)
        case .unreceived(let scope, let caller, let limit, let at): unreceived(tenant, scope, caller, limit, at)
        case .reportNumber(let scope, let caller, let number, let kind, let at):
            reportNumber(tenant, scope, caller, number, kind, at)
        case .preferences(let scope, let caller): preferences(tenant, scope, caller)
        case .setPreferences(let scope, let caller, let change): setPreferences(tenant, scope, caller, change)
        case .drawNumbers(let scope, let count): drawNumbers(tenant, scope, count)
        case .number(let message, let numbers, let targets, let inboxes):
            number(tenant, message, numbers, targets, inboxes)
        case .numbers(let message): numbers(tenant, message)
        case .resolveAliases(let scope, let users, let limit):
            resolveUsers(tenant, scope, users, limit, by: SubmissionSQL.resolveAliases)
        case .assignUser(let scope, let key, let change): assignUser(tenant, scope, key, change)
        case .standing(let scope, let key): standing(tenant, scope, key)
        case .identities(let scope, let filter, let from, let limit): identities(tenant, scope, filter, from, limit)
        case .setBadge(let scope, let holder, let count): setBadge(tenant, scope, holder, count)
        case .acknowledge(let scope, let message, let holder, let kind, let change, let at):
            acknowledge(tenant, scope, message, holder, kind, change, at)
        case .visit(let scope, let user, let campaign, let at): visit(tenant, scope, user, campaign, at)
        case .createGroup(let scope, let title): createGroup(tenant, scope, title)
        case .titledGroups(let scope, let name, let limit): titledGroups(tenant, scope, name, limit)
        case .members(let scope, let name, let user, let limit): members(tenant, scope, name, user, limit)
        case .recipients(let scope, let users, let tokens, let limit): recipients(tenant, scope, users, tokens, limit)
        case .groupRecipients(let scope, let groups, let tokens, let limit):
            recipients(tenant, scope, groups, tokens, limit)
        case .sequenceMessage(let scope, let message): sequenceMessage(tenant, scope, message)
        case .putVariables(let message, let variables): putVariables(tenant, message, variables)
        case .putPage(let message, let page, let body, let expiresAt):
            putPage(tenant, message, page, body, expiresAt)
        case .setPace(let message, let pace): setPace(tenant, message, pace)
        case .userMessage(let scope, let caller, let user, let number, let hiddenBy):
            userMessage(tenant, scope, caller, user, number, hiddenBy)
        case .unread(let scope, let caller, let owner, let hiddenBy, let limit, let at):
            unread(tenant, scope, caller, owner, hiddenBy, limit, at)
        case .expect(let scope, let key, let attributes): expect(tenant, scope, key, attributes)
        case .report(let scope, let message): report(tenant, scope, message)
        case .profiles(let scope, let names): profiles(tenant, scope, names)
        case .knownTokens(let scope, let tokens): knownTokens(tenant, scope, tokens)
        case .putUsers(let scope, let write): putUsers(tenant, scope, write)
        case .userDetails(let scope, let detail, let users, let limit):
            userDetails(tenant, scope, detail, users, limit)
        case .eraseUsers(let scope, let users, let actor): eraseUsers(tenant, scope, users, actor)
        case .resolveNames(let scope, let users, let limit):
            resolveUsers(tenant, scope, users, limit, by: UserSQL.resolveNames)
        case .campaigns(let scope, let statement): campaigns(tenant, scope, statement)
        }
    }
}
