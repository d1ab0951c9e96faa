/// Runs `body` for the numbers below `count` in several tasks. Each task takes every `tasks`-th number, one after the other.
///
/// - Returns: the values in the order of the numbers.
/// - Throws: an error of `body`. The other tasks are then canceled.
@discardableResult
func concurrently<Value: Sendable>(
    _ count: Int,
    tasks: Int,
    _ body: @escaping @Sendable (_ number: Int) async throws -> Value
) async throws -> [Value] {
    try await withThrowingTaskGroup(of: [(number: Int, value: Value)].self) { group in
        for first in 0..<tasks {
            group.addTask {
                var values: [(number: Int, value: Value)] = []
                for number in stride(from: first, to: count, by: tasks) {
                    values.append((number: number, value: try await body(number)))
                }
                return values
            }
        }
        var all: [(number: Int, value: Value)] = []
        for try await values in group { all += values }
        return all.sorted { $0.number < $1.number }.map { $0.value }
    }
}
