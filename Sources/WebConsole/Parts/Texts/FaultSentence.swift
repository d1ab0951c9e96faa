/// The faults of values that follow a field in the detail of a problem, in English, and their Korean sentences.
///
/// Those of the API's common inputs and of the console's forms. Another one is quoted in English, behind the words of the problem.
enum FaultSentence {
    /// The Korean sentence; nil: no pattern matches.
    static func korean(_ english: String) -> String? {
        guard english.utf8.count <= limit else { return nil }
        if let whole = table.first(where: { $0.en == english }) { return whole.ko }
        for pattern in patterns {
            if let values = pattern.values(in: english), values.allSatisfy(isPlain) { return pattern.filled(values) }
        }
        return nil
    }

    /// Longer texts are not faults of one value. Unit: bytes.
    private static let limit = 1 << 10

    /// Whether a value is a number, a name or a list of them: words between would stay English.
    private static func isPlain(_ value: String) -> Bool { !value.replacing(", ", with: ",").contains(" ") }

    private static let patterns = table.filter { $0.en.contains("{}") }.map { APISentence.Pattern($0.en, $0.ko) }

    static let table: [(en: String, ko: String)] = [
        ("must not be empty", "비워 둘 수 없습니다."),
        ("is missing", "필수 항목입니다."),
        ("must be a string", "문자열이어야 합니다."),
        ("must be a number", "숫자여야 합니다."),
        ("must be true or false", "true 또는 false여야 합니다."),
        ("must be an object", "JSON 객체여야 합니다."),
        ("must be a list", "목록이어야 합니다."),
        ("must be a UUID", "UUID여야 합니다."),
        ("must be an integer from {} to {}", "{1}부터 {2}까지의 정수여야 합니다."),
        ("must be one of {}", "다음 중 하나여야 합니다: {1}."),
        ("at least {} bytes", "{1}바이트 이상이어야 합니다."),
        ("at most {} bytes", "{1}바이트 이하여야 합니다."),
        ("at most {} entries", "항목은 {1}개 이하여야 합니다."),
        ("at most {}", "최대 {1}입니다."),
        ("at most {} per tenant; delete one first", "테넌트당 최대 {1}개입니다. 먼저 하나를 삭제하세요."),
        ("at most {} per app; delete one first", "앱당 최대 {1}개입니다. 먼저 하나를 삭제하세요."),
        ("at most {} captures; delete one first", "캡처는 최대 {1}개입니다. 먼저 하나를 삭제하세요."),
        ("must be after from", "시작보다 나중이어야 합니다."),
        ("must be in the future", "앞으로의 시각이어야 합니다."),
        (
            "must be a time like 2026-12-25T13:30:00Z, or milliseconds since 1970",
            "2026-12-25T13:30:00Z와 같은 시각이거나 1970년부터의 밀리초여야 합니다."
        ),
        ("from and to must be times of day from 0000 to 2359", "시작과 끝은 0000부터 2359까지의 시각이어야 합니다."),
        ("is not a name of the IANA time zone database, like Europe/Berlin", "Europe/Berlin과 같은 IANA 시간대 이름이 아닙니다."),
        ("must be a network like 10.0.0.0/8", "10.0.0.0/8과 같은 네트워크여야 합니다."),
        ("must be http or https with a plain host", "http 또는 https 주소여야 하며, 호스트에 다른 것을 더할 수 없습니다."),
        ("is not an address that this gateway may call", "이 게이트웨이가 호출할 수 없는 주소입니다."),
        ("is not registered", "등록되어 있지 않습니다."),
        ("is not known", "알 수 없는 값입니다."),
        ("is not a known field", "알 수 없는 항목입니다."),
        ("cannot be used", "사용할 수 없는 값입니다."),
        ("does not reach any device", "해당하는 단말이 없습니다."),
        ("is the name of another key; delete that one, or rotate it", "다른 키의 이름입니다. 그 키를 삭제하거나 교체하세요."),
        ("a capture of this binding is already running; stop it first", "이 연동의 캡처가 이미 실행 중입니다. 먼저 중지하세요."),
        ("the tenant keeps at least one owner who can sign in", "로그인할 수 있는 소유자가 한 명 이상 남아야 합니다."),
        ("nothing was changed; try again", "변경된 것은 없습니다. 다시 시도하세요."),
    ]
}
