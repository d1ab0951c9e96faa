import Model
import Testing

@testable import Gateway

/// Aliases are counted before they are resolved: each level below multiplies the nodes.
struct YAMLAliasTests {
    /// `levels` lists, each of nine aliases of the list before.
    private func bomb(_ levels: Int) -> String {
        var lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
        for level in 1...levels {
            let aliases = Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", ")
            lines.append("a\(level): &a\(level) [\(aliases)]")
        }
        return lines.joined(separator: "\n")
    }

    private func problem(_ text: String) -> String? {
        do throws(ProvisioningProblem) {
            _ = try YAMLTree.parse(text)
            return nil
        } catch { return error.problem }
    }

    @Test(.timeLimit(.minutes(10)), arguments: [6, 8, 30, 110]) func aliasesOfAliasesAreBounded(_ levels: Int) {
        #expect(problem(bomb(levels)) == "its aliases stand for more than 500000 nodes: write the values out")
    }

    @Test func bombsOfMappingsAndBlocksAreBounded() {
        var lines = ["a0: &a0", "  k: v"]
        for level in 1...40 {
            lines += ["a\(level): &a\(level)", "  left: *a\(level - 1)", "  right: *a\(level - 1)"]
        }
        #expect(problem(lines.joined(separator: "\n"))?.hasPrefix("its aliases stand for") == true)
    }

    @Test func fewAliasesAreResolved() throws {
        let text = """
            # *not an alias
            base: &base { topic: com.example, list: [1, 2] }
            first: *base
            second: [*base, "*base", a *base, 2 * 3]
            block: |
              *base
            """
        let base: JSON = ["topic": "com.example", "list": [1, 2]]
        let wanted: JSON = [
            "base": base, "first": base, "second": [base, "*base", "a *base", "2 * 3"], "block": "*base\n",
        ]
        #expect(try YAMLTree.parse(text) == wanted)
        #expect(try YAMLTree.parse(bomb(3)) != .object(JSONObject()))
    }

    @Test func theNumberOfAliasesIsBounded() {
        let aliases = Array(repeating: "*a", count: YAMLTree.aliasLimit)
        let text = "a: &a x\nb: [\(aliases.joined(separator: ", "))]"
        #expect(problem(text) == nil)
        #expect(problem(text.replacing("b: [", with: "b: [*a, ")) == "has more than 1000 aliases")
        #expect(problem("a: *unknown")?.hasPrefix("not YAML") == true)
    }
}
