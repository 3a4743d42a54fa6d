from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class InsightMetricsKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DEPLOYMENT_FREQUENCY: _ClassVar[InsightMetricsKind]
    CHANGE_FAILURE_RATE: _ClassVar[InsightMetricsKind]
    MTTR: _ClassVar[InsightMetricsKind]
    LEAD_TIME: _ClassVar[InsightMetricsKind]
    APPLICATIONS_COUNT: _ClassVar[InsightMetricsKind]

class InsightResultType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MATRIX: _ClassVar[InsightResultType]
    VECTOR: _ClassVar[InsightResultType]

class InsightResolution(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DAILY: _ClassVar[InsightResolution]
    MONTHLY: _ClassVar[InsightResolution]

class InsightApplicationCountLabelKey(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    KIND: _ClassVar[InsightApplicationCountLabelKey]
    ACTIVE_STATUS: _ClassVar[InsightApplicationCountLabelKey]
DEPLOYMENT_FREQUENCY: InsightMetricsKind
CHANGE_FAILURE_RATE: InsightMetricsKind
MTTR: InsightMetricsKind
LEAD_TIME: InsightMetricsKind
APPLICATIONS_COUNT: InsightMetricsKind
MATRIX: InsightResultType
VECTOR: InsightResultType
DAILY: InsightResolution
MONTHLY: InsightResolution
KIND: InsightApplicationCountLabelKey
ACTIVE_STATUS: InsightApplicationCountLabelKey

class InsightDataPoint(_message.Message):
    __slots__ = ("timestamp", "value")
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    timestamp: int
    value: float
    def __init__(self, timestamp: _Optional[int] = ..., value: _Optional[float] = ...) -> None: ...

class InsightSample(_message.Message):
    __slots__ = ("labels", "data_point")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    LABELS_FIELD_NUMBER: _ClassVar[int]
    DATA_POINT_FIELD_NUMBER: _ClassVar[int]
    labels: _containers.ScalarMap[str, str]
    data_point: InsightDataPoint
    def __init__(self, labels: _Optional[_Mapping[str, str]] = ..., data_point: _Optional[_Union[InsightDataPoint, _Mapping]] = ...) -> None: ...

class InsightSampleStream(_message.Message):
    __slots__ = ("labels", "data_points")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    LABELS_FIELD_NUMBER: _ClassVar[int]
    DATA_POINTS_FIELD_NUMBER: _ClassVar[int]
    labels: _containers.ScalarMap[str, str]
    data_points: _containers.RepeatedCompositeFieldContainer[InsightDataPoint]
    def __init__(self, labels: _Optional[_Mapping[str, str]] = ..., data_points: _Optional[_Iterable[_Union[InsightDataPoint, _Mapping]]] = ...) -> None: ...

class InsightApplicationCount(_message.Message):
    __slots__ = ("labels", "count")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    LABELS_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    labels: _containers.ScalarMap[str, str]
    count: int
    def __init__(self, labels: _Optional[_Mapping[str, str]] = ..., count: _Optional[int] = ...) -> None: ...
