package import Model

/// Words that several pages of operations share.
package enum OperationsText {
    static let cancel = Text(ko: "취소", en: "Cancel")
    package static let app = Text(ko: "앱", en: "App")
    package static let vendor = Text(ko: "벤더", en: "Vendor")
    package static let credential = Text(ko: "인증서·키", en: "Credential")
    package static let state = Text(ko: "상태", en: "State")
    package static let time = Text(ko: "시각", en: "Time")
    package static let created = Text(ko: "생성", en: "Created")
    package static let origin = Text(ko: "출처", en: "Defined by")
    static let file = Text(ko: "설정 파일", en: "Provisioning file")
    static let api = Text(ko: "API·콘솔", en: "API or console")
    static let next = Text(ko: "다음", en: "Next page")
    package static let deleted = Text(ko: "삭제했습니다.", en: "Deleted.")
    package static let missing = Text(ko: "필수 항목입니다.", en: "This field is required.")
    package static let number = Text(ko: "숫자를 입력하세요.", en: "Enter a number.")
    package static let change = Text(ko: "변경", en: "Change")
    package static let all = Text(ko: "전체", en: "All")
    package static let source = Text(ko: "확인 주체: 게이트웨이", en: "Source: gateway")
    package static let unavailable = Text(
        ko: "이 정보를 지금 읽을 수 없습니다. 잠시 후 다시 여세요.",
        en: "This information cannot be read now. Open the page again in a moment."
    )

    /// An object of a file is changed only there.
    package static func readOnly(_ path: String) -> Text {
        Text(
            ko: "설정 파일에서 관리하므로 여기서는 읽기만 할 수 있습니다. 파일의 \(path) 항목을 바꾼 뒤 push-gateway apply를 실행하세요.",
            en:
                "Read-only here, because the provisioning file owns it. Change \(path) in the file, then run push-gateway apply."
        )
    }

    /// A page of a longer list.
    package static func firstOf(_ count: String) -> Text {
        Text(ko: "처음 \(count)개만 표시합니다.", en: "Only the first \(count) are shown.")
    }
}

/// The place of an object in a provisioning file.
package enum FilePath {
    package static func app(_ tenant: String, _ app: String) -> String { "tenants[\(tenant)].apps[\(app)]" }
    package static func binding(_ tenant: String, _ app: String, _ vendor: String) -> String {
        "\(self.app(tenant, app)).bindings.\(vendor)"
    }
    package static func credential(_ tenant: String, _ credential: String) -> String {
        "tenants[\(tenant)].credentials[\(credential)]"
    }
    package static func key(_ tenant: String, _ key: String) -> String { "tenants[\(tenant)].apiKeys[\(key)]" }
    package static func routes(_ tenant: String, _ app: String) -> String { "\(self.app(tenant, app)).routes" }
}

/// Parts that several pages of operations show.
package enum OperationsParts {
    /// Whether calls may change an object, and which file does otherwise.
    package static func originTag(_ origin: JSON?, _ words: Wording) -> Table.Cell {
        origin?.string == "file" ? .tag(.idle, words(OperationsText.file)) : .tag(.info, words(OperationsText.api))
    }

    /// The link to the next page of a list that is paged by `after`.
    package static func next(_ json: JSON?, _ request: PageRequest, path: String) -> Link? {
        guard let next = json?.lenientString else { return nil }
        let kept = request.query.filter { $0.name != "after" && $0.name != "row" }
        return Link(OperationsText.next(request.language), path, kept + [PageRequest.Parameter("after", next)])
    }

    /// The parameters of a page of a list.
    package static func page(_ request: PageRequest) -> [PageRequest.Parameter] {
        var query = [PageRequest.Parameter("limit", String(ConsoleLimits.rows))]
        if let after = request.value("after") { query.append(PageRequest.Parameter("after", after)) }
        return query
    }

    /// The choices of a filter, with one that removes it; at most 50.
    package static func choices(_ values: [(String, String)], _ words: Wording) -> [Filter.Option] {
        let all = Filter.Option(value: "", label: words(OperationsText.all))
        return [all] + values.prefix(ConsoleLimits.rows).map { Filter.Option(value: $0.0, label: $0.1) }
    }

    /// A text to copy under its label: the label of `Part.code` alone is for those who do not see it.
    package static func code(_ text: String, _ label: Text, _ words: Wording) -> [Part] {
        [.text(words(label)), .code(text, label: words(label))]
    }

    /// JSON with one member per line.
    package static func pretty(_ json: JSON, indent: Int = 0) -> String {
        let space = String(repeating: "  ", count: min(indent, 64) + 1)
        let end = "\n" + String(repeating: "  ", count: min(indent, 64))
        switch json {
        case .object(let object) where !object.isEmpty:
            let lines = object.pairs.map { key, value in
                "\(space)\(JSONWriter.text(.string(key))): \(pretty(value, indent: indent + 1))"
            }
            return "{\n" + lines.joined(separator: ",\n") + end + "}"
        case .array(let array) where array.contains { $0.object != nil || $0.array != nil }:
            return "[\n" + array.map { space + pretty($0, indent: indent + 1) }.joined(separator: ",\n") + end + "]"
        case .null, .bool, .number, .string, .array, .object: return JSONWriter.text(json)
        }
    }
}
