import Commands
import DeliveryEngine
import Model

/// The rules of campaigns, schedules and labels.
enum CampaignContract {
    /// Of `CommandStore`.
    static let commands = [
        ContractRule("a campaign is kept as it was written, for its app and dialect only") { world in
            var findings = Findings()
            let body: JSONObject = ["b": 1, "a": ["x\u{1}\"é", .number("1.50")]]
            func put(_ id: String, _ body: JSONObject, limit: Int = 3) async throws -> StoreAnswer? {
                try await world.run(
                    .campaigns(world.scope, .put(id: id, name: "n", body: body, limit: limit, by: "me"))
                )
            }
            findings.equal(try await put("b", body), .campaignPut(isNew: true), "the first")
            findings.equal(try await put("b", ["c": 2]), .campaignPut(isNew: false), "written anew")
            findings.equal(try await put("b", body), .campaignPut(isNew: false), "and again")
            let found = try await world.campaigns(.find("b"))
            findings.equal(found.map(\.body), [body], "body")
            findings.equal(found.first?.body.keys, body.keys, "in its order")
            findings.equal(found.first?.name, "n", "name")
            findings.equal(try await put("a", [:]), .campaignPut(isNew: true), "the second")
            findings.equal(try await put("Z", [:]), .campaignPut(isNew: true), "the third")
            findings.equal(try await put("d", [:]), .campaignPut(isNew: nil), "one too many")
            findings.equal(try await world.campaigns(.list(after: nil, limit: 9)).map(\.id), ["Z", "a", "b"], "all")
            findings.equal(try await world.campaigns(.list(after: "Z", limit: 1)).map(\.id), ["a"], "a page")
            let other = AppScope(app: world.app, vendor: .upmc)
            findings.equal(try await world.run(.campaigns(other, .find("b"))), .campaigns([]), "another dialect's")
            let stranger = try await world.run(.campaigns(world.scope, .find("b")), in: world.otherTenant)
            findings.equal(stranger, .campaigns([]), "another tenant's")
            findings.equal(try await world.run(.campaigns(other, .remove("b", by: nil))), .count(0), "not there")
            findings.equal(try await world.run(.campaigns(world.scope, .remove("b", by: "me"))), .count(1), "removed")
            findings.equal(try await world.campaigns(.find("b")), [], "gone")
            return findings.list
        },
        ContractRule("a schedule is replaced only as it was read, and its message is canceled with it") { world in
            var findings = Findings()
            let first = try await world.scheduled(dueIn: .seconds(600))
            let read = try await world.schedules(.schedule(first)).first
            findings.equal(read?.version, Schedule.Version(id: first, message: first), "as it was made")
            findings.equal(read?.state, .scheduled, "to come")
            findings.equal(read?.request, ["n": 1], "what was said")
            let version = Schedule.Version(id: first, message: first)
            let second = try await world.scheduled(dueIn: .seconds(300), replacing: version)
            let changed = try await world.schedules(.schedule(first)).first
            findings.equal(changed?.version, Schedule.Version(id: first, message: second), "another message")
            findings.equal(try await world.state(of: first), .canceled, "the first message")
            findings.equal(try await world.state(of: second), .scheduled, "the second")
            // Who read it before the change is overtaken, and nothing of his is there.
            do throws(StoreError) {
                _ = try await world.replace(version)
                findings.expect(false, "somebody was overtaken")
            } catch {
                findings.equal(error.code, .outdated, "overtaken")
            }
            findings.equal(try await world.schedules(.schedules(until: nil, limit: 9)).map(\.message), [second], "all")
            let soon = world.now() + .seconds(60)
            findings.equal(try await world.schedules(.schedules(until: soon, limit: 9)), [], "none so soon")
            let drop = StoreStatement.campaigns(world.scope, .drop(first, at: world.now()))
            findings.equal(try await world.run(drop, in: world.otherTenant), .count(0), "another tenant's")
            findings.equal(try await world.run(drop), .count(1), "withdrawn")
            findings.equal(try await world.state(of: second), .canceled, "its message")
            findings.equal(try await world.run(drop), .count(0), "it is gone")
            findings.equal(try await world.schedules(.schedule(first)), [], "nobody finds it")
            return findings.list
        },
        ContractRule("a schedule that is under way is neither replaced nor withdrawn") { world in
            var findings = Findings()
            let id = try await world.scheduled(dueIn: .zero)
            findings.expect(try await world.schedules(.schedule(id)).first?.state != .scheduled, "it is due")
            let drop = StoreStatement.campaigns(world.scope, .drop(id, at: world.now()))
            findings.equal(try await world.run(drop), .count(0), "not withdrawn")
            do throws(StoreError) {
                _ = try await world.replace(Schedule.Version(id: id, message: id))
                findings.expect(false, "it was replaced")
            } catch {
                findings.equal(error.code, .outdated, "not replaced")
            }
            return findings.list
        },
        ContractRule("a series counts the messages of a label by day") { world in
            var findings = Findings()
            let day = world.now().day
            for count in 1...2 {
                var message = world.message(to: [])
                message.slices = []
                for _ in 0..<count {
                    let target = TargetID(rawValue: world.identifiers.uuid(at: world.now()))
                    message.suppressed.append(
                        SuppressedTarget(target: target, identity: nil, device: nil, address: nil, reason: .noDevice)
                    )
                }
                _ = try await world.accept(message)
                _ = try await world.run(.campaigns(world.scope, .label(message.id, ["l", "own \(count)"])))
            }
            func series(_ label: String, _ days: ClosedRange<Int32>, in tenant: TenantID? = nil) async throws
                -> [SeriesDay]
            {
                let statement = StoreStatement.campaigns(world.scope, .series(label: label, days: days))
                guard case .series(let days)? = try await world.run(statement, in: tenant) else { return [] }
                return days
            }
            // Two devices of one user are sent it, and one of them reads it; a third fails.
            var keys: [VendorDeviceKey] = []
            var identities: [IdentityID] = []
            for user in ["u", "u", nil] as [UserID?] {
                keys.append(world.newKey())
                let made = try await world.register(keys[keys.count - 1], token: world.newToken(), user: user)
                identities += [made?.identity].compactMap(\.self)
            }
            let pushed = world.message(to: identities)
            _ = try await world.accept(pushed)
            _ = try await world.run(.campaigns(world.scope, .label(pushed.id, ["pushed"])))
            for lease in try await world.claim(pushed.id, by: "n1") {
                var progress = world.progress(lease, .sent, .finished)
                for place in progress.results.indices {
                    progress.results[place].user = place < 2 ? "u" : nil
                    if place == 2 { progress.results[place].state = .failed }
                }
                _ = try await world.deliveries.record(progress, by: "n1")
            }
            let reporter = Reporter(key: keys[0])
            _ = try await world.run(.receipt(world.scope, pushed.id, reporter, .read, at: world.now()))
            let sent = SeriesDay(day: day, sent: 2, read: 1, failed: 1, users: 1)
            findings.equal(try await series("pushed", day...day), [sent], "what was sent")
            let quiet = SeriesDay(day: day, sent: 0, read: 0, failed: 0, users: 0)
            findings.equal(try await series("l", day - 1...day + 1), [quiet], "nobody was sent anything")
            findings.equal(try await series("own 2", day...day), [quiet], "its own label")
            findings.equal(try await series("l", day + 1...day + 2), [], "another day")
            findings.equal(try await series("m", day...day), [], "another label")
            findings.equal(try await series("l", day...day, in: world.otherTenant), [], "another tenant's")
            return findings.list
        },
    ]
}

extension ContractWorld {
    fileprivate func campaigns(_ statement: CampaignStatement) async throws -> [Campaign] {
        guard case .campaigns(let found)? = try await run(.campaigns(scope, statement)) else { return [] }
        return found
    }

    fileprivate func schedules(_ statement: CampaignStatement) async throws -> [Schedule] {
        guard case .schedules(let found)? = try await run(.campaigns(scope, statement)) else { return [] }
        return found
    }

    fileprivate func state(of message: MessageID) async throws -> MessageState? {
        guard case .report(let report)? = try await run(.report(scope, message)) else { return nil }
        return report?.state
    }

    /// A message under a schedule; its id.
    fileprivate func scheduled(dueIn delay: Duration, replacing version: Schedule.Version? = nil) async throws
        -> MessageID
    {
        let message = message(to: [IdentityID(rawValue: identifiers.uuid(at: now()))], dueIn: delay)
        let draft = ScheduleDraft(replaced: version, request: ["n": 1])
        _ = try await commands.run(statements(draft, message), in: tenant)
        return message.id
    }

    fileprivate func replace(_ version: Schedule.Version) async throws(StoreError) -> [StoreAnswer] {
        let message = message(to: [IdentityID(rawValue: identifiers.uuid(at: now()))], dueIn: .seconds(900))
        let draft = ScheduleDraft(replaced: version, request: [:])
        return try await commands.run(statements(draft, message), in: tenant)
    }

    /// As a submission has them.
    private func statements(_ draft: ScheduleDraft, _ message: NewMessage) -> [StoreStatement] {
        let withdrawn = draft.replaced.map { [StoreStatement.campaigns(scope, .withdraw($0))] } ?? []
        return withdrawn + [.accept(message), .campaigns(scope, .keep(draft, message.id))]
    }
}
