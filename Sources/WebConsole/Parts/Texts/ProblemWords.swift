/// The words of a refused call, and the recommended step, for each code of the native API (docs/errors.md), in both languages.
package struct ProblemWords: Sendable, Hashable {
    package var title: Text
    package var action: Text

    package init(title: Text, action: Text) {
        self.title = title
        self.action = action
    }

    /// The words of a code; those of its status for another code.
    package static func of(_ code: String?, status: Int) -> ProblemWords {
        of(code) ?? byStatus(status)
    }

    /// The words of a code; nil for one that is not known here.
    package static func of(_ code: String?) -> ProblemWords? { code.flatMap { table[$0] } }

    static var codes: [String] { table.keys.sorted() }

    private static let again = Text(ko: "잠시 후 다시 시도하세요.", en: "Try again in a moment.")

    private static let table: [String: ProblemWords] = [
        "PG-1001": .init(
            title: Text(ko: "요청을 읽을 수 없습니다.", en: "The request cannot be read."),
            action: Text(ko: "페이지를 새로 열고 다시 시도하세요.", en: "Open the page again and repeat the step.")
        ),
        "PG-1002": .init(
            title: Text(ko: "잘못된 값이 있습니다.", en: "A value is not valid."),
            action: Text(ko: "표시된 필드를 수정하세요.", en: "Correct the field that is named.")
        ),
        "PG-1003": .init(
            title: Text(ko: "로그인이 필요합니다.", en: "You are not signed in."),
            action: Text(ko: "다시 로그인하세요.", en: "Sign in again.")
        ),
        "PG-1004": .init(
            title: Text(ko: "권한이 없습니다.", en: "You do not have the permission."),
            action: Text(ko: "소유자에게 역할을 요청하세요.", en: "Ask an owner for a role that has it.")
        ),
        "PG-1005": .init(
            title: Text(ko: "찾을 수 없습니다.", en: "This was not found."),
            action: Text(
                ko: "주소를 확인하세요. 삭제되었거나 보관 기간이 지났을 수 있습니다.",
                en: "Check the address. It may have been deleted, or its retention may have ended."
            )
        ),
        "PG-1006": .init(
            title: Text(ko: "허용되지 않는 요청입니다.", en: "This request is not allowed."),
            action: Text(ko: "페이지의 링크와 버튼을 사용하세요.", en: "Use the links and buttons of the page.")
        ),
        "PG-1007": .init(
            title: Text(ko: "내용이 너무 큽니다.", en: "The content is too large."),
            action: Text(ko: "파일이나 입력을 줄이세요.", en: "Use a smaller file or a shorter text.")
        ),
        "PG-1008": .init(
            title: Text(ko: "전송이 너무 느립니다.", en: "The upload was too slow."),
            action: again
        ),
        "PG-1009": .init(
            title: Text(ko: "이미 다른 내용으로 보냈습니다.", en: "This was already sent with other content."),
            action: Text(ko: "페이지를 새로 열고 다시 보내세요.", en: "Open the page again and send it anew.")
        ),
        "PG-1010": .init(title: Text(ko: "요청이 너무 많습니다.", en: "There are too many requests."), action: again),
        "PG-1011": .init(
            title: Text(ko: "앱에 푸시 인증서·키가 없습니다.", en: "The app has no push credential."),
            action: Text(ko: "인증서·키를 등록하고 앱에 지정하세요.", en: "Upload a credential and assign it to the app.")
        ),
        "PG-1012": .init(
            title: Text(ko: "요청한 이벤트의 보관 기간이 지났습니다.", en: "The requested events have expired."),
            action: Text(ko: "최신 이벤트부터 다시 여세요.", en: "Open the page again from the latest events.")
        ),
        "PG-1013": .init(
            title: Text(ko: "푸시 서비스가 요청을 거절했습니다.", en: "The push service rejected the request."),
            action: Text(ko: "표시된 사유를 확인하세요.", en: "See the reason that is shown.")
        ),
        "PG-1014": .init(
            title: Text(ko: "이벤트 로그가 새로 시작되었습니다.", en: "The event log has begun a new generation."),
            action: Text(ko: "최신 이벤트부터 다시 여세요.", en: "Open the page again from the latest events.")
        ),
        "PG-1015": .init(
            title: Text(ko: "할당량을 모두 사용했습니다.", en: "A quota is used up."),
            action: Text(
                ko: "내일 다시 시도하거나 한도를 늘려 달라고 요청하세요.",
                en: "Try again tomorrow, or ask to have the quota raised."
            )
        ),
        "PG-1016": .init(
            title: Text(ko: "설정 파일에서 관리하는 항목입니다.", en: "A provisioning file manages this object."),
            action: Text(ko: "파일을 수정하고 적용하세요.", en: "Change the file and apply it.")
        ),
        "PG-1017": .init(
            title: Text(ko: "다른 사용자가 먼저 변경했습니다.", en: "Another user changed this meanwhile."),
            action: Text(
                ko: "변경 내용은 아직 저장되지 않았습니다. 두 버전을 비교하세요.",
                en: "Your changes are not saved yet. Compare the two versions."
            )
        ),
        "PG-1018": .init(
            title: Text(ko: "변경할 버전이 지정되지 않았습니다.", en: "The version to change is not named."),
            action: Text(ko: "페이지를 새로 열고 다시 시도하세요.", en: "Open the page again and repeat the step.")
        ),
        "PG-2001": .init(
            title: Text(ko: "지금은 처리할 수 없습니다.", en: "The gateway cannot process this now."),
            action: Text(ko: "변경된 것은 없습니다. 잠시 후 다시 시도하세요.", en: "Nothing was changed. Try again in a moment.")
        ),
        "PG-2002": .init(
            title: Text(ko: "푸시 서비스가 응답하지 않았습니다.", en: "The push service did not answer."),
            action: Text(ko: "다시 보내기 전에 상태를 확인하세요.", en: "Check the state before you repeat the step.")
        ),
        "PG-2003": .init(
            title: Text(ko: "감사 로그 복사가 지연되고 있습니다.", en: "The copy of the audit log is behind."),
            action: Text(
                ko: "복사가 끝날 때까지 관리 작업이 거절됩니다. 발신에는 영향이 없습니다.",
                en: "Administrative changes are refused until it catches up. Sending is not affected."
            )
        ),
    ]

    private static func byStatus(_ status: Int) -> ProblemWords {
        switch status {
        case 401: table["PG-1003"] ?? unknown
        case 403: table["PG-1004"] ?? unknown
        case 404: table["PG-1005"] ?? unknown
        case 405: table["PG-1006"] ?? unknown
        case 413: table["PG-1007"] ?? unknown
        case 429: table["PG-1010"] ?? unknown
        case 503: table["PG-2001"] ?? unknown
        default: unknown
        }
    }

    private static let unknown = ProblemWords(
        title: Text(ko: "오류가 발생했습니다.", en: "An error occurred."),
        action: Text(
            ko: "다시 시도하세요. 계속되면 요청 ID와 함께 신고하세요.",
            en: "Try again. If it persists, report it with the request ID."
        )
    )
}
