import Model
import PageParts

enum ComposeText {
    static let title = Text(ko: "메시지 발신", en: "Compose")
    static let begin = Text(
        ko: "수신 대상을 선택하고 메시지를 작성하십시오. 확인하기 전에는 아무것도 발신되지 않습니다.",
        en: "Choose the recipients and write the message. Nothing is sent before you confirm it."
    )
    static func faults(_ count: Int) -> Text {
        Text(
            ko: "아직 발신할 수 없습니다. 입력 항목 \(count)개를 수정하십시오.",
            en: "The message cannot be sent yet. Correct \(count, one: "field")."
        )
    }
    static let nobody = Text(
        ko: "수신할 단말이 없습니다. 수신 대상을 다시 선택하십시오.",
        en: "No device matches the recipients. Choose other recipients."
    )
    static func refusedAll(_ formats: String) -> Text {
        Text(
            ko: "Apple이 이 메시지를 거절합니다: \(formats). 내용을 줄이거나 수정하십시오.",
            en: "Apple would refuse this message: \(formats). Shorten or correct the content."
        )
    }
    static let now = Text(ko: "지금", en: "now")
    static func send(_ count: String, _ app: String, _ time: String) -> Text {
        Text(
            ko: "\(app)의 단말 \(count)대에 \(time) 발신하시겠습니까?",
            en: "Send to \(count, one: "device") of \(app) \(time)?"
        )
    }
    static func atMoment(_ moment: String) -> Text { Text(ko: "\(moment)에", en: "at \(moment)") }
    static func atLocal(_ time: String) -> Text {
        Text(ko: "각 단말의 현지 시각으로 \(time)에", en: "at \(time) in the time zone of each device")
    }
    static func atLeast(_ count: String) -> Text { Text(ko: "최소 \(count)", en: "at least \(count)") }

    // MARK: Steps and fields

    static let recipients = Text(ko: "1 수신 대상", en: "1 Recipients")
    static let content = Text(ko: "2 내용", en: "2 Content")
    static let time = Text(ko: "3 시각", en: "3 Time")
    static let review = Text(ko: "4 검토", en: "4 Review")

    static let audience = Text(ko: "수신 대상", en: "Recipients")
    static func audience(_ kind: Composition.Audience) -> Text {
        switch kind {
        case .search: Text(ko: "검색", en: "Search")
        case .group: Text(ko: "그룹", en: "Group")
        case .tags: Text(ko: "태그", en: "Tags")
        case .everyone: Text(ko: "전체", en: "Everyone")
        case .devices: Text(ko: "선택한 단말", en: "Chosen devices")
        }
    }
    static let search = Text(ko: "찾을 단말", en: "Devices to find")
    static let searchHint = Text(
        ko: "전화번호, 사용자 또는 키. 한 줄에 하나씩 최대 5개까지 입력합니다.",
        en: "A phone number, user or key. One per line, at most five."
    )
    static let group = Text(ko: "그룹", en: "Group")
    static let noGroup = Text(ko: "선택 안 함", en: "None")
    static let tags = Text(ko: "태그 조건", en: "Tag expression")
    static let tagsHint = Text(ko: "예: 서울 && !직원", en: "Example: seoul && !quiet")
    static let message = Text(ko: "메시지", en: "Message")
    static let messageTitle = Text(ko: "제목", en: "Title")
    static let body = Text(ko: "본문", en: "Text")
    static let bodyHint = Text(
        ko: "변수는 #{이름} 형태로 씁니다. 값은 검토할 때 입력합니다.",
        en: "Write a variable as #{name}. Its value is asked for in the review."
    )
    static let image = Text(ko: "이미지", en: "Image")
    static let imageHint = Text(ko: "PNG, JPEG 또는 GIF. 선택하지 않아도 됩니다.", en: "PNG, JPEG or GIF. Optional.")
    static func storedImage(_ hash: String) -> Text {
        Text(ko: "저장된 이미지: \(hash.prefix(12))…", en: "Stored image: \(hash.prefix(12))…")
    }
    static func namedImage(_ hash: String) -> Text {
        Text(ko: "이미지 \(hash.prefix(12))…", en: "Image \(hash.prefix(12))…")
    }
    static func imageElsewhere(_ host: String) -> Text { Text(ko: "\(host)의 이미지", en: "Image of \(host)") }
    static let urgent = Text(ko: "긴급: 다른 모든 메시지보다 먼저 발신합니다.", en: "Urgent: sent before all others")
    static let campaign = Text(ko: "캠페인", en: "Campaign")
    static let campaignHint = Text(
        ko: "분석에서 이 이름으로 집계합니다. 선택 사항입니다.",
        en: "Analytics count the message under this name. Optional."
    )
    static let more = Text(ko: "그 밖의 항목", en: "Further members")
    static let moreNote = Text(
        ko: "템플릿이나 이전 메시지에 있지만 이 양식에는 없는 항목입니다. 그대로 유지됩니다.",
        en: "The template or earlier message has these members, which this form does not have. They are kept."
    )
    static let textsAlone = Text(
        ko: "이전 메시지의 제목, 본문, 캠페인만 가져왔습니다. 나머지 내용은 벤더의 형식이거나 이 역할로 볼 수 없습니다.",
        en:
            "Only title, text and campaign of the earlier message are taken. Its other content has a vendor's form, or your role may not see it."
    )
    static func variable(_ name: String) -> Text { Text(ko: "변수 \(name)", en: "Variable \(name)") }
    static let when = Text(ko: "발신 시각", en: "When to send")
    static func due(_ due: Composition.Due) -> Text {
        switch due {
        case .now: Text(ko: "지금", en: "Now")
        case .at: Text(ko: "지정한 시각", en: "At a time")
        case .local: Text(ko: "각 단말의 현지 시각", en: "At a local time on each device")
        }
    }
    static func at(_ zone: String) -> Text { Text(ko: "시각 (\(zone))", en: "Time (\(zone))") }
    static let local = Text(ko: "현지 시각", en: "Local time")

    static let template = Text(ko: "템플릿", en: "Template")
    static let noTemplate = Text(ko: "템플릿 없음", en: "No template")

    // MARK: Faults

    static let chooseAudience = Text(ko: "수신 대상을 선택하십시오.", en: "Choose the recipients.")
    static let chooseGroup = Text(ko: "그룹을 선택하십시오.", en: "Choose a group.")
    static let stateTags = Text(ko: "태그 조건을 입력하십시오.", en: "Enter a tag expression.")
    static let stateSearch = Text(ko: "찾을 단말을 입력하십시오.", en: "Enter what to search for.")
    static let tooManySearches = Text(
        ko: "최대 5개까지 입력할 수 있습니다. 더 많으면 그룹을 사용하십시오.",
        en: "At most five. Use a group for more."
    )
    static let nothingFound = Text(ko: "일치하는 단말이 없습니다.", en: "No device matches.")
    static let tooManyFound = Text(
        ko: "일치하는 단말이 너무 많습니다. 그룹이나 태그를 사용하십시오.",
        en: "Too many devices match. Use a group or tags."
    )
    static let stateText = Text(ko: "제목이나 본문을 입력하십시오.", en: "Enter a title or a text.")
    static func tooLong(_ limit: Int) -> Text {
        Text(ko: "최대 \(limit)바이트까지 입력할 수 있습니다.", en: "At most \(limit) bytes.")
    }
    static let stateVariable = Text(ko: "값을 입력하십시오.", en: "Enter a value.")
    static let past = Text(ko: "이미 지난 시각입니다.", en: "This time has passed.")
    static let stateTime = Text(ko: "날짜와 시각을 입력하십시오.", en: "Enter a date and a time.")
    static let imageRefused = Text(ko: "이미지를 저장하지 못했습니다.", en: "The image was not stored.")

    // MARK: Review

    static let toReview = Text(ko: "검토", en: "Review message")
    static let update = Text(ko: "미리 보기 갱신", en: "Update preview")
    static let changed = Text(
        ko: "검토한 뒤 내용이 바뀌었습니다. 다시 검토하십시오.",
        en: "The message was changed after the review. Review it again."
    )
    static let noPayloads = Text(
        ko: "제목이나 본문을 입력하고 미리 보기를 갱신하면 형식별 페이로드와 크기가 나타납니다.",
        en: "Enter a title or a text and update the preview to see each format's payload and size."
    )
    static let saveDraft = Text(ko: "임시 저장", en: "Save draft")
    static let draftSaved = Text(ko: "임시 저장했습니다.", en: "The draft is saved.")
    static let draftChanged = Text(
        ko: "다른 사람이 이 임시 저장본을 변경했습니다. 입력한 내용은 아직 저장되지 않았습니다.",
        en: "This draft was changed by another person. Your changes are not saved yet."
    )
    static let preview = Text(ko: "단말 미리 보기", en: "Device preview")
    static let payloads = Text(ko: "형식별 페이로드", en: "Payload of each format")
    static let payloadsCaption = Text(ko: "형식별 페이로드의 크기와 판정", en: "Size and verdict of the payload of each format")
    static let format = Text(ko: "형식", en: "Format")
    static let size = Text(ko: "크기", en: "Size")
    static func bytes(_ size: String, of limit: String) -> Text {
        Text(ko: "\(limit)바이트 중 \(size)바이트", en: "\(size) of \(limit) bytes")
    }
    static let share = Text(ko: "한도 대비", en: "Share of the limit")
    static let verdict = Text(ko: "판정", en: "Verdict")
    static let fits = Text(ko: "발신 가능", en: "Can be sent")
    static let shortened = Text(ko: "줄여서 발신", en: "Shortened to fit")
    static let refused = Text(ko: "거절됨", en: "Refused")
    static func payload(of vendor: String) -> Text { Text(ko: "\(vendor) 페이로드", en: "Payload of \(vendor)") }

    static func testSend(_ count: String) -> Text {
        Text(ko: "테스트 단말 사용자 \(count)명에게 발신", en: "Send a test to \(count, one: "test user")")
    }
    static let testSent = Text(ko: "테스트를 발신했습니다.", en: "The test was sent.")
    static let noTest = Text(
        ko: "테스트 단말이 없습니다. 테스트 단말 페이지에서 사용자를 추가하십시오.",
        en: "This app has no test devices. Add users on the page of test devices."
    )
    static let toTest = Text(ko: "테스트 단말", en: "Test devices")
    static func typeNumber(_ count: Int64) -> Text {
        Text(ko: "확인을 위해 \(count)을(를) 입력하십시오", en: "Type \(count) to confirm")
    }
    static func wrongNumber(_ count: Int64) -> Text {
        Text(ko: "\(count)을(를) 입력하십시오.", en: "Type \(count).")
    }
    static func numberChanged(_ count: String) -> Text {
        Text(
            ko: "수신 대상이 단말 \(count)대로 바뀌었습니다. 다시 검토하십시오.",
            en: "The number of recipients has changed to \(count, one: "device"). Review the message again."
        )
    }
    static func sendTo(_ count: String) -> Text {
        Text(ko: "단말 \(count)대에 발신", en: "Send to \(count, one: "device")")
    }
    static let undoable = Text(
        ko: "버튼을 누른 뒤 10초 동안 실행을 취소할 수 있습니다.",
        en: "For 10 seconds after the button, sending can be undone."
    )
    static let cancelable = Text(
        ko: "발신 시각까지 취소할 수 있습니다.",
        en: "Sending can be canceled until it is due."
    )
    static func excluded(_ optedOut: String, _ quiet: String) -> Text {
        Text(
            ko: "이 중 수신 거부 \(optedOut)대 · 방해 금지 시간 \(quiet)대",
            en: "Of these: \(optedOut) opted out · \(quiet) in quiet hours"
        )
    }
    static func excludedUncounted(_ limit: String) -> Text {
        Text(
            ko: "수신 거부와 방해 금지 시간에 해당하는 단말은 최대 \(limit)대까지만 집계합니다.",
            en: "Opt-outs and quiet hours are counted for at most \(limit, one: "device")."
        )
    }
    static let recipientNote = Text(
        ko: "확인 주체: 게이트웨이. 수신 거부와 방해 금지 시간은 발신할 때 적용됩니다.",
        en: "Source: gateway. Opt-outs and quiet hours are applied when the message is sent."
    )
}
