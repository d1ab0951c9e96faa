/// Two locks that one transaction takes one after the other.
package struct LockPair: Hashable, Comparable, CustomStringConvertible, Sendable {
    package var earlier: String
    package var later: String

    package init(_ earlier: String, _ later: String) {
        self.earlier = earlier
        self.later = later
    }

    package var description: String { "\(earlier) before \(later)" }

    package static func < (left: LockPair, right: LockPair) -> Bool {
        (left.earlier, left.later) < (right.earlier, right.later)
    }
}

/// A pair with the place that takes its later lock: a function, or a function and the one that it calls (`report_number > mark_deliveries`).
package struct PlacedPair: Hashable, Comparable, CustomStringConvertible, Sendable {
    package var pair: LockPair
    package var place: String

    package init(_ pair: LockPair, in place: String) {
        self.pair = pair
        self.place = place
    }

    package var description: String { "\(place): \(pair)" }

    package static func < (left: PlacedPair, right: PlacedPair) -> Bool {
        (left.place, left.pair) < (right.place, right.pair)
    }
}

/// Follows the branches and calls of the schema's functions and finds which locks a transaction can take after which others.
///
/// A path is any path through the branches: two conditions that exclude each other are not recognized. Rows of one table are not distinguished: they
/// have one place in the order.
package struct LockWalk: Sendable {
    /// The effect of a piece of code on its transaction.
    struct Effect: Sendable {
        /// Locks that some path holds at the end.
        var held: Set<String> = []
        /// Locks that every path holds at the end.
        var certain: Set<String> = []
        var pairs: Set<PlacedPair> = []
    }

    /// The functions of the schema by their names.
    private let scripts: [String: LockScript]
    private var effects: [String: Effect] = [:]

    /// - Parameter functions: the files of the schema's functions by their names.
    package init(functions: [String: String]) {
        scripts = functions.mapValues { LockScript(function: $0) }
        for name in scripts.keys.sorted() { _ = effect(of: name, callers: []) }
    }

    /// The pairs of every function.
    package var pairs: Set<PlacedPair> { effects.values.reduce(into: []) { $0.formUnion($1.pairs) } }

    /// The pairs of a transaction of several statements, including those of the functions that it calls.
    package func pairs(transaction statements: [String]) -> Set<PlacedPair> {
        var walk = self
        var total = Effect()
        for sql in statements {
            let script = LockScript(statement: sql)
            let effect = walk.effect(of: script, named: Self.name(of: sql), callers: [])
            walk.append(effect, to: &total, in: Self.name(of: sql))
        }
        return total.pairs
    }

    /// The function that a statement calls, or the words that identify it.
    static func name(of sql: String) -> String {
        if let call = sql.firstMatch(of: /^SELECT [^;]*?\bgateway\.([a-z_]+)\(/)?.output.1 { return String(call) }
        return LockScript.words(sql).prefix(6).joined(separator: " ")
    }

    // MARK: Walk

    private mutating func effect(of function: String, callers: Set<String>) -> Effect {
        if let known = effects[function] { return known }
        // A recursive call adds nothing to what its caller does already.
        guard let script = scripts[function], !callers.contains(function) else { return Effect() }
        let effect = effect(of: script, named: function, callers: callers.union([function]))
        effects[function] = effect
        return effect
    }

    private mutating func effect(of script: LockScript, named name: String, callers: Set<String>) -> Effect {
        var path = Path(place: name, callers: callers)
        let end = walk(script.nodes, from: Held(), &path)
        if let end { path.ends.append(end) }
        var effect = Effect(pairs: path.pairs)
        effect.held = path.ends.reduce(into: []) { $0.formUnion($1.all) }
        effect.certain = path.ends.dropFirst().reduce(path.ends.first?.certain ?? []) { $0.intersection($1.certain) }
        return effect
    }

    /// The locks at one point of a path.
    private struct Held {
        var all: Set<String> = []
        var certain: Set<String> = []
        /// Tables whose rows this function has locked before it writes them.
        var prepared: Set<String> = []

        static func joined(_ held: [Held?]) -> Held? {
            let reached = held.compactMap(\.self)
            guard var joined = reached.first else { return nil }
            for other in reached.dropFirst() {
                joined.all.formUnion(other.all)
                joined.certain.formIntersection(other.certain)
                joined.prepared.formIntersection(other.prepared)
            }
            return joined
        }
    }

    /// The results of the walk through one function.
    private struct Path {
        let place: String
        let callers: Set<String>
        var pairs: Set<PlacedPair> = []
        /// The locks at each `RETURN`.
        var ends: [Held] = []
    }

    /// The locks behind these statements; nil if no path reaches that point.
    private mutating func walk(_ nodes: [LockScript.Node], from start: Held, _ path: inout Path) -> Held? {
        var held = start
        for node in nodes {
            guard let next = walk(node, from: held, &path) else { return nil }
            held = next
        }
        return held
    }

    private mutating func walk(_ node: LockScript.Node, from start: Held, _ path: inout Path) -> Held? {
        switch node {
        case .statement(let words):
            let held = run(words, from: start, &path)
            if words.first == "RETURN", !["QUERY", "NEXT"].contains(words.dropFirst().first ?? "") {
                path.ends.append(held)
                return nil
            }
            return words.first == "RAISE" && words.dropFirst().first == "EXCEPTION" ? nil : held
        case .branch(let arms, let otherwise):
            var before = start
            var behind: [Held?] = []
            for arm in arms {
                before = run(arm.condition, from: before, &path)
                behind.append(walk(arm.body, from: before, &path))
            }
            return .joined(behind + [walk(otherwise, from: before, &path)])
        case .loop(let head, let body):
            var held = run(head, from: start, &path)
            // The second round starts with the locks of the first one.
            for _ in 1...2 {
                if let end = walk(body, from: held, &path) { held.all.formUnion(end.all) }
            }
            return held
        case .block(let body, let handlers):
            let end = walk(body, from: start, &path)
            // The locks of a failed block are released with its savepoint.
            return .joined([end] + handlers.map { walk($0, from: start, &path) })
        }
    }

    private mutating func run(_ words: [Substring], from start: Held, _ path: inout Path) -> Held {
        var held = start
        for act in LockAct.acts(in: words) {
            switch act {
            case .write(let target):
                // A function that locks rows and then writes the table writes the rows that it has locked.
                if !held.prepared.contains(target) { note(target, after: held, in: path.place, &path.pairs) }
                held.all.insert(target)
                held.certain.insert(target)
            case .lock(let target):
                note(target, after: held, in: path.place, &path.pairs)
                held.all.insert(target)
                held.certain.insert(target)
                held.prepared.insert(target)
            case .lockFree(let target):
                held.all.insert(target)
                held.certain.insert(target)
                held.prepared.insert(target)
            case .call(let function):
                let effect = effect(of: function, callers: path.callers)
                var total = Effect(held: held.all, certain: held.certain, pairs: path.pairs)
                append(effect, to: &total, in: "\(path.place) > \(function)")
                held.all = total.held
                held.certain = total.certain
                path.pairs = total.pairs
            }
        }
        return held
    }

    /// The effect of code that runs after `total`.
    private func append(_ effect: Effect, to total: inout Effect, in place: String) {
        let held = Held(all: total.held, certain: total.certain)
        for target in effect.held { note(target, after: held, in: place, &total.pairs) }
        total.pairs.formUnion(effect.pairs)
        total.held.formUnion(effect.held)
        total.certain.formUnion(effect.certain)
    }

    private func note(_ target: String, after held: Held, in place: String, _ pairs: inout Set<PlacedPair>) {
        // A transaction works on one message: the row is locked already.
        if LockOrder.singleRows.contains(target), held.certain.contains(target) { return }
        for earlier in held.all where earlier != target {
            pairs.insert(PlacedPair(LockPair(earlier, target), in: place))
        }
    }
}
