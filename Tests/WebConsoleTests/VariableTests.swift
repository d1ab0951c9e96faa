import Testing

@testable import ConsoleDelivery

struct VariableTests {
    @Test func namesAreInOrderAndOnce() {
        #expect(Variables.names(in: "#{b} #{a}", "#{a}#{c d}#{}#{x") == ["b", "a"])
        #expect(Variables.names(in: (0..<30).map { "#{v\($0)}" }.joined()).count == Variables.limit)
    }

    @Test func textsWithoutVariablesStay() {
        for text in SendingWorld.hostile { #expect(Variables.fill(text, [:]) == text) }
        #expect(Variables.fill("##{a}#", ["a": "1"]) == "#1#")
    }
}
