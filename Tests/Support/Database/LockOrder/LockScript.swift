/// A function of the schema as a tree of its statements, or a single statement. Reads the subset of PL/pgSQL that `Schema/routines` uses: it
/// knows blocks, branches and loops, and takes everything else as SQL.
struct LockScript: Sendable {
    indirect enum Node: Sendable {
        /// SQL, or an assignment or expression that may call functions.
        case statement([Substring])
        /// Conditions, in order, each with its statements; the last block runs when none holds.
        case branch([Arm], otherwise: [Node])
        case loop(head: [Substring], [Node])
        /// A block with its exception handlers.
        case block([Node], handlers: [[Node]])
    }

    struct Arm: Sendable {
        var condition: [Substring]
        var body: [Node]
    }

    let nodes: [Node]

    /// A statement of a store.
    init(statement sql: String) { nodes = [.statement(Self.words(sql))] }

    /// The file of a function. The initial values of its variables count as its first statements.
    init(function sql: String) {
        guard let body = sql.firstMatch(of: /AS \$\$(?s:(.*))\$\$;/)?.output.1 else {
            nodes = []
            return
        }
        var reader = Reader(Self.words(String(body)))
        nodes = reader.function()
    }

    /// The words, literals and signs of SQL. Comments are left out, and a dynamic statement (`$q$…$q$`) is an empty literal.
    static func words(_ sql: String) -> [Substring] {
        let pattern = /--[^\n]*|\$q\$(?s:.*?)\$q\$|'(?:[^']|'')*'|[A-Za-z_][A-Za-z_0-9.]*|:=|=>|\S/
        return sql.matches(of: pattern).compactMap { match -> Substring? in
            let word = match.output
            if word.hasPrefix("--") { return nil }
            return word.hasPrefix("$q$") ? "''" : word
        }
    }
}

extension LockScript {
    private struct Reader {
        private let words: [Substring]
        private var place = 0

        init(_ words: [Substring]) { self.words = words }

        private var word: Substring? { place < words.count ? words[place] : nil }

        mutating func function() -> [Node] {
            var nodes: [Node] = []
            while let word, word != "BEGIN" {
                let declaration = upTo([";", "BEGIN"])
                skip(";")
                if !declaration.isEmpty { nodes.append(.statement(declaration)) }
            }
            if word != nil { nodes.append(block()) }
            return nodes
        }

        /// The statements before one of these words.
        private mutating func nodes(until ends: Set<Substring>) -> [Node] {
            var nodes: [Node] = []
            while let word, !ends.contains(word) {
                switch word {
                case "IF": nodes.append(branch())
                case "FOR", "FOREACH", "WHILE", "LOOP": nodes.append(loop())
                case "BEGIN": nodes.append(block())
                default:
                    let statement = upTo([";"])
                    skip(";")
                    if !statement.isEmpty { nodes.append(.statement(statement)) }
                }
            }
            return nodes
        }

        private mutating func branch() -> Node {
            var arms: [Arm] = []
            while word == "IF" || word == "ELSIF" {
                place += 1
                let condition = upTo(["THEN"])
                skip("THEN")
                arms.append(Arm(condition: condition, body: nodes(until: ["ELSIF", "ELSE", "END"])))
            }
            var otherwise: [Node] = []
            if word == "ELSE" {
                place += 1
                otherwise = nodes(until: ["END"])
            }
            endOfBlock()
            return .branch(arms, otherwise: otherwise)
        }

        private mutating func loop() -> Node {
            let head = upTo(["LOOP"])
            skip("LOOP")
            let body = nodes(until: ["END"])
            endOfBlock()
            return .loop(head: head, body)
        }

        private mutating func block() -> Node {
            skip("BEGIN")
            let body = nodes(until: ["EXCEPTION", "END"])
            var handlers: [[Node]] = []
            if word == "EXCEPTION" {
                place += 1
                while word == "WHEN" {
                    _ = upTo(["THEN"])
                    skip("THEN")
                    handlers.append(nodes(until: ["WHEN", "END"]))
                }
            }
            endOfBlock()
            return .block(body, handlers: handlers)
        }

        /// `END`, `END IF` or `END LOOP`, with its semicolon.
        private mutating func endOfBlock() {
            _ = upTo([";"])
            skip(";")
        }

        /// The words before one of these, outside of parentheses and of `CASE … END`.
        private mutating func upTo(_ ends: Set<Substring>) -> [Substring] {
            var depth = 0
            var cases = 0
            let start = place
            while let word {
                if depth == 0, cases == 0, ends.contains(word) { break }
                switch word {
                case "(", "[": depth += 1
                case ")", "]": depth -= 1
                case "CASE": cases += 1
                case "END": cases = max(0, cases - 1)
                default: break
                }
                place += 1
            }
            return Array(words[start..<place])
        }

        private mutating func skip(_ expected: Substring) {
            if word == expected { place += 1 }
        }
    }
}
