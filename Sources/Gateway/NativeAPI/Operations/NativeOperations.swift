/// Every operation of the native API, in the order of the document. A new resource adds one line.
enum NativeOperations {
    static let all: [NativeOperation] = [
        FindOperations.all,
        MessageOperations.all,
        DeviceOperations.all,
        DiagnosisOperations.all,
        PossessionOperations.all,
        ExpectationOperations.all,
        AppOperations.all,
        DeviceTokenOperations.all,
        UserOperations.all,
        GroupOperations.all,
        AudienceSizeOperations.all,
        CampaignOperations.all,
        ActivityOperations.all,
        ChannelOperations.all,
        ReceiptOperations.all,
        ImportOperations.all,
        EventOperations.all,
        AnalyticsOperations.all,
        ExportOperations.all,
        WebhookOperations.all,
        CaptureOperations.all,
        KeyOperations.all,
        CredentialOperations.all,
        OperatorOperations.all,
    ].flatMap(\.self)
}
