import Model
import Testing

@testable import Store
@testable import TemplateStore

/// The rules of templates.
@Suite struct TemplateRuleTests {
    private static let lee = AuditActor.command(user: 1)

    private func put(
        _ world: RuleWorld,
        _ name: String,
        _ content: JSONObject,
        _ expected: Int64,
        limit: Int = 3
    ) async throws -> PutTemplate.Outcome {
        try await world.run(
            PutTemplate(world.app, name: name, content: content, expected: expected, limit: limit, by: Self.lee)
        )
    }

    @Test func aTemplateIsStoredUnchangedForItsAppOnly() async throws {
        let world = try await RuleWorld.make()
        let content: JSONObject = ["b": 1, "a": ["x\u{1}\"é", .number("1.50")]]
        guard case .stored(let revision, true) = try await put(world, "b", content, 0) else {
            Issue.record("not created")
            return
        }
        let found = try await world.run(FindTemplate(world.app, name: "b"))
        #expect(found?.content == content && found?.content.keys == content.keys, "in its order")
        #expect(found?.revision == revision && found?.changedBy == Self.lee.description && found?.app == world.app)
        #expect(try await world.run(FindTemplate(world.app, name: "B")) == nil, "names are exact")
        #expect(try await world.run(FindTemplate("other", name: "b")) == nil, "another app's")
        #expect(
            try await world.run(FindTemplate(world.app, name: "b"), in: world.otherTenant) == nil,
            "another tenant's"
        )
        #expect(try await put(world, "a", [:], 0) != .full)
        #expect(try await put(world, "Z", [:], 0) != .full)
        #expect(try await put(world, "d", [:], 0) == .full, "one too many")
        let all = try await world.run(ListTemplates(world.app, after: nil, limit: 9))
        #expect(all.map(\.name) == ["Z", "a", "b"], "in byte order")
        #expect(try await world.run(ListTemplates(world.app, after: "Z", limit: 1)).map(\.name) == ["a"], "a page")
        let missing = PutTemplate("other", name: "x", content: [:], expected: 0, by: Self.lee)
        #expect(try await world.run(missing) == .missing, "no such app")
    }

    @Test func onlyTheRevisionThatWasReadIsChanged() async throws {
        let world = try await RuleWorld.make()
        guard case .stored(let first, true) = try await put(world, "t", ["n": 1], 0) else {
            Issue.record("not created")
            return
        }
        #expect(try await put(world, "t", ["n": 2], 0) == .mismatch(revision: first), "it exists")
        #expect(try await put(world, "t", ["n": 2], first) == .stored(revision: first + 1, isNew: false))
        #expect(try await put(world, "t", ["n": 3], first) == .mismatch(revision: first + 1), "overtaken")
        #expect(
            try await world.run(FindTemplate(world.app, name: "t"))?.content == ["n": 2],
            "the second change is kept"
        )
        #expect(try await put(world, "u", [:], 7) == .mismatch(revision: 0), "there is none to change")
        func remove(_ expected: Int64?) async throws -> RemoveTemplate.Outcome {
            try await world.run(RemoveTemplate(world.app, name: "t", expected: expected, by: Self.lee))
        }
        #expect(try await remove(first) == .mismatch(revision: first + 1))
        #expect(try await remove(first + 1) == .removed)
        #expect(try await remove(nil) == .missing)
        #expect(try await put(world, "t", ["n": 4], first + 1) == .mismatch(revision: 0), "deleted meanwhile")
    }
}
