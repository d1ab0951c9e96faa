package import Model
package import Store

/// Defines how a value is written in answers. The members produce both the schema and the JSON, so that the two always agree.
package struct AnswerShape<Value>: Sendable {
    package struct Member: Sendable {
        package let name: String
        package let schema: JSONSchema
        /// False: the member may be absent.
        package let isRequired: Bool
        /// Content of a message: absent for a key without the scope `content`.
        package let isContent: Bool
        /// The member's JSON, with or without the content of messages that it contains.
        package let write: @Sendable (Value, _ withContent: Bool) -> JSON?

        package init(
            _ name: String,
            _ schema: JSONSchema,
            isRequired: Bool = true,
            write: @escaping @Sendable (Value) -> JSON?
        ) {
            self.init(name, schema, isRequired: isRequired) { value, _ in write(value) }
        }

        /// For a member that contains other shapes.
        package init(
            _ name: String,
            _ schema: JSONSchema,
            isRequired: Bool = true,
            isContent: Bool = false,
            writePart write: @escaping @Sendable (Value, _ withContent: Bool) -> JSON?
        ) {
            self.name = name
            self.schema = schema
            self.isRequired = isRequired
            self.isContent = isContent
            self.write = write
        }

        /// The same member as content of a message.
        package var content: Member {
            Member(name, schema.ofContent, isRequired: false, isContent: true, writePart: write)
        }
    }

    package let members: [Member]
    package let schema: JSONSchema

    /// The members of a shape as members of another one, which contains its value.
    package static func members<Part>(
        _ members: [AnswerShape<Part>.Member],
        of part: @escaping @Sendable (Value) -> Part
    ) -> [Member] {
        members.map { member in
            Member(
                member.name,
                member.schema,
                isRequired: member.isRequired,
                isContent: member.isContent,
                writePart: { member.write(part($0), $1) }
            )
        }
    }

    /// Additional members whose names come from the value, after the declared members.
    private let others: (@Sendable (Value) -> JSONObject)?

    /// `name` is the name of the schema in the document. `content` returns members whose names come from the value and which are content of messages;
    /// declared members take precedence.
    package init(_ name: String, _ members: [Member], content: (@Sendable (Value) -> JSONObject)? = nil) {
        self.members = members
        others = content
        let schema = JSONSchema.object(
            members.map { ($0.name, $0.schema, $0.isRequired) },
            isOpen: content != nil
        )
        let text = content.map { _ in "Further members are only for a key with the scope `content`." }
        self.schema = schema.described(text).named(name)
    }

    /// Without `withContent`, the members that are content of messages are absent.
    package func object(_ value: Value, withContent: Bool = true) -> JSONObject {
        var object = JSONObject()
        for member in members where withContent || !member.isContent {
            object[member.name] = member.write(value, withContent)
        }
        guard withContent, let others else { return object }
        for (key, json) in others(value).pairs where object[key] == nil { object[key] = json }
        return object
    }

    package func json(_ value: Value, withContent: Bool = true) -> JSON {
        .object(object(value, withContent: withContent))
    }
}

extension AnswerShape.Member {
    package typealias Member = Self

    package static func text(
        _ name: String,
        _ description: String = "",
        format: String? = nil,
        example: String? = nil,
        _ read: @escaping @Sendable (Value) -> String
    ) -> Member {
        Member(name, .text(format: format, example: example).described(description)) { .string(read($0)) }
    }

    package static func optionalText(
        _ name: String,
        _ description: String = "",
        format: String? = nil,
        example: String? = nil,
        _ read: @escaping @Sendable (Value) -> String?
    ) -> Member {
        let schema = JSONSchema.text(format: format, example: example).nullable.described(description)
        return Member(name, schema) { read($0).map { .string($0) } ?? .null }
    }

    package static func id(
        _ name: String,
        _ description: String = "",
        _ read: @escaping @Sendable (Value) -> String
    ) -> Member {
        Member(name, .uuid.described(description)) { .string(read($0)) }
    }

    package static func optionalID(
        _ name: String,
        _ description: String = "",
        _ read: @escaping @Sendable (Value) -> String?
    ) -> Member {
        Member(name, .uuid.nullable.described(description)) { read($0).map { .string($0) } ?? .null }
    }

    package static func word<Word: RawRepresentable & CaseIterable & Sendable>(
        _ name: String,
        _ description: String = "",
        _ read: @escaping @Sendable (Value) -> Word
    ) -> Member where Word.RawValue == String {
        Member(name, .words(Word.allCases.map(\.rawValue)).described(description)) { .string(read($0).rawValue) }
    }

    /// One word of a list.
    package static func word(
        _ name: String,
        among words: [String],
        _ description: String = "",
        _ read: @escaping @Sendable (Value) -> String
    ) -> Member {
        Member(name, .words(words).described(description)) { .string(read($0)) }
    }

    package static func int(
        _ name: String,
        _ description: String = "",
        _ read: @escaping @Sendable (Value) -> Int
    ) -> Member {
        Member(name, .integer(example: 1).described(description)) { .int(read($0)) }
    }

    package static func optionalInt(
        _ name: String,
        _ description: String = "",
        _ read: @escaping @Sendable (Value) -> Int?
    ) -> Member {
        Member(name, .integer(example: 1).nullable.described(description)) { read($0).map { .int($0) } ?? .null }
    }

    package static func int64(
        _ name: String,
        _ description: String = "",
        _ read: @escaping @Sendable (Value) -> Int64
    ) -> Member {
        Member(name, .integer(example: 1).described(description)) { .int(read($0)) }
    }

    package static func optionalNumber(
        _ name: String,
        _ description: String = "",
        _ read: @escaping @Sendable (Value) -> Double?
    ) -> Member {
        Member(name, JSONSchema.number.nullable.described(description)) { value in
            read(value).map { .number("\($0)") } ?? .null
        }
    }

    package static func flag(
        _ name: String,
        _ description: String = "",
        _ read: @escaping @Sendable (Value) -> Bool
    ) -> Member {
        Member(name, .flag.described(description)) { .bool(read($0)) }
    }

    package static func time(
        _ name: String,
        _ description: String = "",
        _ read: @escaping @Sendable (Value) -> Timestamp
    ) -> Member {
        Member(name, .time.described(description)) { .string(read($0).rfc3339) }
    }

    package static func optionalTime(
        _ name: String,
        _ description: String = "",
        _ read: @escaping @Sendable (Value) -> Timestamp?
    ) -> Member {
        Member(name, .time.nullable.described(description)) { read($0).map { .string($0.rfc3339) } ?? .null }
    }

    package static func texts(
        _ name: String,
        _ description: String = "",
        example: String? = nil,
        _ read: @escaping @Sendable (Value) -> [String]
    ) -> Member {
        Member(name, .list(of: .text(example: example)).described(description)) { .array(read($0).map { .string($0) }) }
    }

    /// An object with any members.
    package static func anyObject(
        _ name: String,
        _ description: String = "",
        _ read: @escaping @Sendable (Value) -> JSONObject
    ) -> Member {
        Member(name, .anyObject.described(description)) { .object(read($0)) }
    }

    /// A value of another shape.
    package static func shape<Part>(
        _ name: String,
        _ shape: AnswerShape<Part>,
        _ description: String = "",
        _ read: @escaping @Sendable (Value) -> Part
    ) -> Member {
        Member(
            name,
            shape.schema.described(description),
            writePart: { value, withContent in
                shape.json(read(value), withContent: withContent)
            }
        )
    }

    /// A value of another shape, or null.
    package static func optionalShape<Part>(
        _ name: String,
        _ shape: AnswerShape<Part>,
        _ description: String = "",
        _ read: @escaping @Sendable (Value) -> Part?
    ) -> Member {
        Member(
            name,
            shape.schema.nullable.described(description),
            writePart: { value, withContent in
                read(value).map { shape.json($0, withContent: withContent) } ?? .null
            }
        )
    }

    package static func list<Part>(
        _ name: String,
        _ shape: AnswerShape<Part>,
        _ description: String = "",
        _ read: @escaping @Sendable (Value) -> [Part]
    ) -> Member {
        Member(
            name,
            .list(of: shape.schema).described(description),
            writePart: { value, withContent in
                .array(read(value).map { shape.json($0, withContent: withContent) })
            }
        )
    }
}

/// One page of a list: the items, and `next`, the value of `after` for the following page.
package struct AnswerPage<Item>: Sendable {
    package let name: String
    package let shape: AnswerShape<Item>
    package let schema: JSONSchema

    /// `next` is the schema of a non-null `next`. `title` is the name of the page's schema; by default it is `name`. `more`: further members of the page.
    package init(
        _ name: String,
        _ shape: AnswerShape<Item>,
        next: JSONSchema = .text(),
        title: String? = nil,
        more: [(String, JSONSchema)] = []
    ) {
        self.name = name
        self.shape = shape
        let title = title ?? name.prefix(1).uppercased() + name.dropFirst()
        schema = JSONSchema.object(
            [
                (name, .list(of: shape.schema), true),
                (
                    "next",
                    next.nullable.described("The value of `after` for the next page; null on the last page."),
                    true
                ),
            ] + more.map { ($0.0, $0.1, true) }
        ).named("\(title)Page")
    }

    /// `next` is written when the page is full, because more items may follow.
    package func json(
        _ items: [Item],
        limit: Int,
        withContent: (Item) -> Bool = { _ in true },
        next: (Item) -> JSON
    ) -> JSON {
        [
            name: .array(items.map { shape.json($0, withContent: withContent($0)) }),
            "next": items.count == limit ? items.last.map(next) ?? .null : .null,
        ]
    }

    /// A page that may be followed by others although it is not full. `more`: the values of its further members.
    package func json<ID: UUIDIdentifier>(
        _ page: LookPage<Item, ID>,
        withContent: (Item) -> Bool = { _ in true },
        next: (ID) -> String = { $0.description },
        more: [(String, JSON)] = []
    ) -> JSON {
        let members: [(String, JSON)] = [
            (name, .array(page.items.map { shape.json($0, withContent: withContent($0)) })),
            ("next", page.next.map { .string(next($0)) } ?? .null),
        ]
        return .object(JSONObject(members + more))
    }
}
